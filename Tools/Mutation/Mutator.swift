import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder

// Puts mutants into Swift files: small mistakes, each with a number, of which a program makes one if it is told so.
//
//     mutator 0 "17 18" Sources/Formats/*.swift
//
// The first argument is the number of the first mutant, and the second one names mutants to leave out. The mutator rewrites the
// files and prints a line for each mutant: its number, file, line and mistake; and at the end the number of the next mutant.
// The function `isMutant` is in each mutated module.

/// Rewrites one file.
final class Mutator: SyntaxRewriter {
    private let path: String
    private let lines: SourceLocationConverter
    private let left: Set<Int>
    private(set) var next: Int

    init(_ path: String, _ tree: SourceFileSyntax, from first: Int, without left: Set<Int>) {
        self.path = path
        self.left = left
        lines = SourceLocationConverter(fileName: path, tree: tree)
        next = first
    }

    /// Announces a mutant and returns its condition; nil if the mutant is left out.
    private func condition(_ node: some SyntaxProtocol, _ mistake: String) -> String? {
        defer { next += 1 }
        guard !left.contains(next) else { return nil }
        let line = node.startLocation(converter: lines).line
        print(next, path, line, mistake.replacing("\n", with: " "), separator: "\t")
        return "isMutant(\(next))"
    }

    /// Returns an expression with the blanks and comments around a node.
    private func expression(_ text: String, like node: some ExprSyntaxProtocol) -> ExprSyntax {
        let expression = ExprSyntax("\(raw: text)")
        return expression.with(\.leadingTrivia, node.leadingTrivia).with(\.trailingTrivia, node.trailingTrivia)
    }

    // MARK: - Operators

    private static let opposites = [
        "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "&+": "&-",
        "&-": "&+",
    ]

    /// Returns the operator of the mutant. Only an operand that is a whole number shows that `+` adds numbers, and does not join
    /// texts.
    private static func opposite(_ node: InfixOperatorExprSyntax) -> String? {
        let name = node.operator.trimmedDescription
        if let opposite = opposites[name] { return opposite }
        guard node.leftOperand.is(IntegerLiteralExprSyntax.self) || node.rightOperand.is(IntegerLiteralExprSyntax.self)
        else { return nil }
        return ["+": "-", "-": "+"][name]
    }

    override func visit(_ node: InfixOperatorExprSyntax) -> ExprSyntax {
        let inner = super.visit(node)
        // An operator cannot stand to the left of these words.
        let text = node.trimmedDescription
        guard let opposite = Self.opposite(node), !text.contains("try "), !text.contains("await "),
            let condition = condition(node, "\(node.operator.trimmedDescription) becomes \(opposite): \(text)")
        else { return inner }
        // Not all types with one of these operators have the other.
        if ["==", "!="].contains(node.operator.trimmedDescription) {
            return expression("(\(condition) != (\(inner.trimmedDescription)))", like: node)
        }
        let other = "\(node.leftOperand.trimmedDescription) \(opposite) \(node.rightOperand.trimmedDescription)"
        return expression("(\(condition) ? (\(other)) : (\(inner.trimmedDescription)))", like: node)
    }

    /// Functions that end a program with a mistake, which no test needs to find.
    private static let checks: Set = ["precondition", "assert", "preconditionFailure", "fatalError"]

    override func visit(_ node: FunctionCallExprSyntax) -> ExprSyntax {
        let name = node.calledExpression.trimmedDescription
        guard !Self.checks.contains(name) else { return ExprSyntax(node) }
        let inner = super.visit(node)
        guard let opposite = ["min": "max", "max": "min"][name], node.arguments.count == 2,
            !node.description.contains("try "),
            let condition = condition(node, "\(name) becomes \(opposite): \(node.trimmedDescription)")
        else { return inner }
        let other = node.trimmedDescription.replacing(name, with: opposite, maxReplacements: 1)
        return expression("(\(condition) ? (\(other)) : (\(inner.trimmedDescription)))", like: node)
    }

    // MARK: - Conditions

    override func visit(_ node: ConditionElementSyntax) -> ConditionElementSyntax {
        let inner = super.visit(node)
        // An operator's mutant is closer to real mistakes.
        guard case .expression(let whole) = node.condition, !whole.is(InfixOperatorExprSyntax.self),
            case .expression(let changed) = inner.condition, !whole.description.contains("try "),
            !whole.description.contains("await "),
            let condition = condition(node, "the condition is turned: \(whole.trimmedDescription)")
        else { return inner }
        return inner.with(
            \.condition, .expression(expression("(\(condition) != (\(changed.trimmedDescription)))", like: whole)))
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> ExprSyntax {
        // It only says whether memory is reused, which changes no result.
        if node.parent?.as(LabeledExprSyntax.self)?.label?.text == "keepingCapacity" { return ExprSyntax(node) }
        for parent in sequence(first: Syntax(node), next: \.parent) {
            // Arguments by default and patterns cannot call a function of the module.
            if parent.is(FunctionParameterSyntax.self) || parent.is(ExpressionPatternSyntax.self)
                || parent.is(EnumCaseParameterSyntax.self)
            {
                return ExprSyntax(node)
            }
        }
        guard let condition = condition(node, "\(node.literal.text) is turned") else { return ExprSyntax(node) }
        return expression("(\(condition) != \(node.literal.text))", like: node)
    }

    // MARK: - Statements

    override func visit(_ node: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
        let inner = super.visit(node)
        guard Self.isWithoutValue(node) else { return inner }
        return CodeBlockItemListSyntax(
            zip(node, inner).map { old, new in
                guard Self.isRemovable(old),
                    let condition = condition(old, "the statement is missing: \(old.trimmedDescription)")
                else { return new }
                let text = "if !\(condition) { \(new.trimmedDescription) }"
                return CodeBlockItemSyntax("\(raw: text)")
                    .with(\.leadingTrivia, new.leadingTrivia).with(\.trailingTrivia, new.trailingTrivia)
            })
    }

    /// Returns whether nothing uses the value of a list's only statement.
    private static func isWithoutValue(_ list: CodeBlockItemListSyntax) -> Bool {
        guard list.count == 1 else { return true }
        let block = list.parent?.is(CodeBlockSyntax.self) == true ? list.parent?.parent : list.parent
        guard let block else { return false }
        if let function = block.as(FunctionDeclSyntax.self) { return function.signature.returnClause == nil }
        if let accessor = block.as(AccessorDeclSyntax.self) { return accessor.accessorSpecifier.text != "get" }
        if block.is(InitializerDeclSyntax.self) || block.is(ForStmtSyntax.self) || block.is(WhileStmtSyntax.self)
            || block.is(DeferStmtSyntax.self) || block.is(GuardStmtSyntax.self)
        {
            return true
        }
        // An if or switch has a value only if its own list has no other statement.
        guard block.is(IfExprSyntax.self) || block.is(SwitchCaseSyntax.self) else { return false }
        for parent in sequence(first: block, next: \.parent) {
            if let item = parent.as(CodeBlockItemSyntax.self) {
                guard item.item.is(ExpressionStmtSyntax.self) || item.item.is(IfExprSyntax.self) else { return false }
                return item.parent?.as(CodeBlockItemListSyntax.self).map(isWithoutValue) ?? false
            }
        }
        return false
    }

    private static func isRemovable(_ item: CodeBlockItemSyntax) -> Bool {
        guard case .expr(var expression) = item.item else { return false }
        if let inner = expression.as(TryExprSyntax.self) { expression = inner.expression }
        if let inner = expression.as(AwaitExprSyntax.self) { expression = inner.expression }
        if let infix = expression.as(InfixOperatorExprSyntax.self) {
            return ["+=", "-=", "&+=", "&-=", "|=", "&="].contains(infix.operator.trimmedDescription)
        }
        guard let call = expression.as(FunctionCallExprSyntax.self) else { return false }
        let name = call.calledExpression.trimmedDescription
        // These two change no result. The builds for tests keep objects until the end of their scope anyway.
        guard name != "withExtendedLifetime", !name.hasSuffix(".reserveCapacity") else { return false }
        return !checks.contains(name) && !["exit", "super.init", "self.init"].contains(name)
            && !name.hasPrefix("log.") && !name.contains(".log.")
    }

    // MARK: - Parts that stay

    override func visit(_ node: IfConfigDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: AttributeSyntax) -> AttributeSyntax { node }
}

@main
enum Program {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 3, var next = Int(arguments[1]) else {
            FileHandle.standardError.write(Data("usage: mutator FIRST LEFT-OUT FILE…\n".utf8))
            exit(2)
        }
        let left = Set(arguments[2].split(separator: " ").compactMap { Int($0) })
        for path in arguments.dropFirst(3) {
            let tree = Parser.parse(source: try String(contentsOfFile: path, encoding: .utf8))
            let parsed = OperatorTable.standardOperators.foldAll(tree) { _ in }
            guard let folded = parsed.as(SourceFileSyntax.self) else { continue }
            let mutator = Mutator(path, folded, from: next, without: left)
            try mutator.rewrite(folded).description.write(toFile: path, atomically: true, encoding: .utf8)
            next = mutator.next
        }
        print(next)
    }
}
