#!/usr/bin/env bash
# Counts the lines of source without tests: one line per crate, then the total.
#
#   tools/lines.sh             this checkout
#   tools/lines.sh CHECKOUT    another checkout, to compare
#
# Source is every Rust file in `crates/*/src`. Lines are counted as rustfmt leaves them, with blank
# lines and comments. Left out are items under `#[cfg(test)]`, with their doc comments and other
# attributes, and files that only such a `mod` declares, with the files below them.
#
# Needs bash, find, sort and any awk.
set -euo pipefail
export LC_ALL=C
cd "${1:-"$(dirname "$0")/.."}"

find crates/*/src -name '*.rs' | sort | awk '
# The line without comments, and without the content of strings and characters, so that every
# bracket that is left is code. `comment`, `string` and `raw` last from one line to the next.
function code_of(line,    code, found, closing) {
    code = ""
    while (line != "") {
        if (comment > 0) {
            if (!match(line, /\/\*|\*\//)) break
            comment += substr(line, RSTART, 2) == "/*" ? 1 : -1
            line = substr(line, RSTART + 2)
        } else if (string) {
            if (!match(line, /\\.|\\$|"/)) break
            if (substr(line, RSTART, 1) == "\"") string = 0
            line = substr(line, RSTART + RLENGTH)
        } else if (raw != "") {
            closing = index(line, raw)
            if (!closing) break
            line = substr(line, closing + length(raw))
            raw = ""
        } else {
            if (!match(line, /r#*"|"|\047|\/\/|\/\*/)) return code line
            found = substr(line, RSTART, RLENGTH)
            code = code substr(line, 1, RSTART - 1)
            line = substr(line, RSTART + RLENGTH)
            if (found == "//") break
            if (found == "/*") comment = 1
            else if (found == "\"") string = 1
            else if (found != "\047") {
                raw = "\"" substr(found, 2, length(found) - 2)
            } else if (match(line, /^(\\u\{[^}]*\}|\\x..|\\.|[^\\\047][\200-\277]*)\047/)) {
                line = substr(line, RLENGTH + 1)
            }
            # Otherwise the quote begins a lifetime.
        }
    }
    return code
}

# Continues an item under `#[cfg(test)]` with the code of a line. Returns 1 when the line ends the
# item, and -1 when the line before it did.
function continue_item(code,    found, rest) {
    head = head code " "
    while (match(code, /[][(){};,]/)) {
        found = substr(code, RSTART, 1)
        code = rest = substr(code, RSTART + 1)
        gsub(/[ \t]/, "", rest)
        if (found ~ /[[({]/) {
            depth++
        } else if (found ~ /[])}]/) {
            if (--depth < 0) return -1
            # A bracket that closes an attribute does not end the item.
            if (depth == 0 && found == "}" && rest ~ /^[;,]?$/) return 1
        } else if (depth == 0 && found == ";") {
            return 1
        } else if (depth == 0 && rest == "" && !is_declaration(head)) {
            return 1
        }
    }
    return 0
}

# Whether the item is a declaration, which no comma ends, and not a field, a variant or an arm.
function is_declaration(head) {
    gsub(/#\[[^]]*\]/, "", head)
    gsub(/pub *(\([^)]*\))? /, "", head)
    return head ~ /^[ \t]*(async|const|enum|extern|fn|impl|mod|static|struct|trait|type|union|unsafe|use)[ \t<]/
}

# Leaves out the files of a module that is declared in `file`, and the files below it.
function leave_out(file, head, source,    folder, name) {
    if (!match(head, /mod +[A-Za-z0-9_]+ *;/)) return
    name = substr(head, RSTART + 3, RLENGTH - 4)
    gsub(/ /, "", name)
    folder = file
    sub(/\/[^\/]*$/, "", folder)
    if (match(source, /#\[path *= *"[^"]*"/)) {
        name = substr(source, RSTART, RLENGTH - 1)
        sub(/.*"/, "", name)
        sub(/\.rs$/, "", name)
    } else if (file !~ /\/(lib|main|mod)\.rs$/) {
        folder = file
        sub(/\.rs$/, "", folder)
    }
    left_out[folder "/" name ".rs"] = 1
    left_out[folder "/" name "/"] = 1
}

function is_left_out(file,    part, parts, folder, i) {
    if (file in left_out) return 1
    parts = split(file, part, "/")
    folder = ""
    for (i = 1; i < parts; i++) {
        folder = folder part[i] "/"
        if (folder in left_out) return 1
    }
    return 0
}

function count(file,    line, code, ended, inside, lead, tested, total, source) {
    comment = string = inside = lead = tested = total = 0
    raw = source = ""
    while ((getline line < file) > 0) {
        total++
        code = code_of(line)
        if (code ~ /^[ \t]*#!\[cfg\(test\)\]/) left_out[file] = 1
        if (!inside && code ~ /^[ \t]*#\[cfg\((test|all\(([^()]*, *)?test[,)].*)\)\]/) {
            inside = 1
            depth = 0
            head = source = ""
            tested += lead
        }
        if (inside) {
            source = source line "\n"
            ended = continue_item(code)
            if (ended >= 0) tested++
            if (ended) {
                leave_out(file, head, source)
                inside = lead = 0
            }
        } else if (line ~ /^[ \t]*\/\/\// || code ~ /^[ \t]*#\[.*\]$/) {
            # These lines belong to the item that follows.
            lead++
        } else {
            lead = 0
        }
    }
    close(file)
    if (inside || string || comment || raw != "") {
        print "tools/lines.sh: " file " does not end where it should" > "/dev/stderr"
        failed = 1
    }
    lines[file] = total - tested
}

{ files[NR] = $0; count($0) }

END {
    for (i = 1; i <= NR; i++) {
        if (is_left_out(files[i])) continue
        split(files[i], part, "/")
        if (!(part[2] in crate)) names[++crates] = part[2]
        crate[part[2]] += lines[files[i]]
        total += lines[files[i]]
    }
    for (i = 1; i <= crates; i++) printf "%8d  %s\n", crate[names[i]], names[i]
    printf "%8d  total\n", total
    exit failed
}'
