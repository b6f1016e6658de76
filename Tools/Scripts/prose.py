"""Finds the sentences of pages, string literals and doc comments. For check-prose and draw-sentences."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "SECURITY.md", "docs/*.md", "docs/decisions/*.md"]
STRING_MODULES = ["UI", "Commands", "App", "Settings"]
LITERAL = re.compile(r'(#*)("""|")')
BREAK = re.compile(r'(?<=[.!?:;])["”)]* +(?=["“(]*[A-Z])')
SENTENCE_END = re.compile(r"(?<=[.!?])[”)]* +(?=[“(*]*[A-Z]|`)")


def sentences(text):
    """Splits a paragraph into sentences, and at colons and semicolons before capital letters."""
    return [part.strip() for part in BREAK.split(text) if part.strip()]


def whole_sentences(text):
    """Splits a paragraph into whole sentences."""
    return [part.strip() for part in SENTENCE_END.split(text) if part.strip()]


def page_paragraphs(text):
    """Yields line number and text of each paragraph, list item, heading and table cell; code blocks are left out."""
    buffer, start, is_code = [], 0, False
    for number, line in enumerate(text.split("\n") + [""], 1):
        stripped = line.strip()
        if stripped.startswith("```"):
            is_code = not is_code
            stripped = ""
        elif is_code:
            continue
        is_block = stripped.startswith(("#", "|", "!["))
        if buffer and (not stripped or is_block or re.match(r"(?:[*-]|\d+\.) ", stripped)):
            yield start, " ".join(buffer)
            buffer = []
        if stripped.startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", stripped)]
            yield from ((number, cell) for cell in cells if cell.strip("-: "))
        elif is_block:
            yield number, stripped.lstrip("#! ")
        elif stripped:
            if not buffer:
                start = number
            buffer.append(re.sub(r"^(?:[*-]|\d+\.) ", "", stripped))


def skip_interpolation(text, index):
    """Returns the index after the parenthesis that closes an interpolation."""
    depth = 1
    while index < len(text) and depth:
        if text[index] == '"':
            index = literal_end(text, index, LITERAL.match(text, index))[1]
            continue
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        index += 1
    return index


def literal_end(text, index, opening):
    """Returns the content of a literal, with “N” for each interpolation, and the index after it."""
    hashes, quotes = opening[1], opening[2]
    index, content = opening.end(), []
    end, escape = quotes + hashes, "\\" + hashes
    while index < len(text) and not text.startswith(end, index):
        if text.startswith(escape + "(", index):
            content.append("N")
            index = skip_interpolation(text, index + len(escape) + 1)
        elif text.startswith(escape, index):
            content.append({"n": "\n", '"': '"', "\\": "\\"}.get(text[index + len(escape)], ""))
            index += len(escape) + 1
        else:
            content.append(text[index])
            index += 1
    return "".join(content), index + len(end)


def literals(text):
    """Returns line number and content of each string literal of a Swift source; a sum of literals is one."""
    return [(text.count("\n", 0, start) + 1, content) for start, content in placed_literals(text)]


def placed_literals(text):
    """Returns offset and content of each string literal of a Swift source; a sum of literals is one."""
    index, found = 0, []
    token = re.compile(r'//[^\n]*|/\*.*?\*/|#*"""|#*"', re.S)
    while match := token.search(text, index):
        if match[0].startswith("/"):
            index = match.end()
            continue
        content, index = literal_end(text, match.start(), LITERAL.match(text, match.start()))
        if found and re.fullmatch(r"\s*\+\s*", text[found[-1][2] : match.start()]):
            found[-1] = (found[-1][0], found[-1][1] + content, index)
        else:
            found.append((match.start(), content, index))
    return [(start, content) for start, content, _ in found]


# The sources with tables of descriptions, and the beginning of each row up to the name of the described thing.
ROWS = {
    "CommandTable.swift": [(r"Entry\(\s*\.(\w+), \.(\w+)", "command {}, scope {}")],
    "SettingsTable.swift": [
        (r'\.\w+\(\s*"([a-z-]+)",', "setting {}"), (r"\.fromNowOn\(()", "end of: “SETTING” applies to"),
        (r"\.atNextStart\(()", "reason at the end of a sentence"),
    ],
    "InvocationTable.swift": [
        (r'Subcommand\(\s*"([^"]*)"', "vitrine {}"), (r'InvocationOption\(\s*"([^"]+)"', "option --{}"),
        (r"\((\d), ", "exit code {}"),
    ],
    "ManPage.swift": [(r"\(usual\.(\w+?)(?:File)?, ", "file {}"), (r'\(\s*"([A-Z_0-9, ]+|http_proxy[^"]*)", ', "variable {}")],
}


def described(name, text, start):
    """Returns the name of the command, option, setting or file that the literal at an offset describes, or nothing.

    The row of a table that begins last before the literal contains the literal, unless other code lies in between.
    """
    rows = [
        (match.start(), label.format(*(hyphenated(part) for part in match.groups())).strip())
        for pattern, label in ROWS.get(pathlib.PurePath(name).name, [])
        for match in re.finditer(pattern, text[:start])
    ]
    begin, label = max(rows, default=(0, ""))
    return label if rows and not re.search(r"\b(?:func\b|throw\b|return\b|page\.\w+\()", text[begin:start]) else ""


def hyphenated(name):
    """Returns the form that users see of a camel-case name; other names stay."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower() if re.fullmatch(r"[a-z]+(?:[A-Z]+[a-z]*)*", name) else name


def is_readable(text):
    """Returns whether a literal has words to read: at least two beside values, placeholders, options and signs.

    Examples of key bindings are not sentences either.
    """
    if text.startswith("bind "):
        return False
    words = re.sub(r"\[[^\]]*\]", " ", text).split()
    return len(words) > 2 and sum(bool(re.fullmatch(r"[“(]?[A-Za-z]?[a-z’'-]+[.,:;…!?”)]*", word)) for word in words) > 1


def first_cells(text):
    """Returns the first cell of each row of a page's tables by line, with the first cell of the table's head."""
    found, head = {}, ""
    for number, line in enumerate(text.split("\n"), 1):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)][1:-1]
        head = (head or cells[0]) if cells else ""
        if cells:
            found[number] = (head, cells[0])
    return found


def headings(text):
    """Returns the heading above each line of a page."""
    found = [""]
    for line in text.split("\n"):
        found.append(line.lstrip("# ") if line.startswith("#") else found[-1])
    return found


def declaration(text, number):
    """Returns the declaration below the doc comment at a line."""
    lines = [line.strip() for line in text.split("\n")[number - 1 : number + 60]]
    found = ""
    for line in (line for line in lines if line and not line.startswith(("//", "@"))):
        found += " " * bool(found) + line
        if found.count("(") <= found.count(")"):
            break
    return re.sub(r" =(?: [\[(])?$", "", found.split("{")[0].strip().replace("( ", "(").replace(" )", ")"))


def doc_comments(text):
    """Yields line number and text of each doc comment's first paragraph."""
    start, words = 0, []
    for number, line in enumerate(text.split("\n") + [""], 1):
        match = re.match(r"\s*/// ?(.*)", line)
        if match and match[1].strip() and start is not None:
            start = start or number
            words.append(match[1].strip())
        elif match:
            # The rest of the comment follows the first paragraph.
            if words:
                yield start, " ".join(words)
            start, words = None, []
        else:
            if words:
                yield start, " ".join(words)
            start, words = 0, []


def pages():
    """Yields path and text of each page."""
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def sources(modules=("",)):
    """Yields path and text of each Swift source of some modules, or of all."""
    for module in modules:
        for path in sorted((ROOT / "Sources" / module).rglob("*.swift")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
