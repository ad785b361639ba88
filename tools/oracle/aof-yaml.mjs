// A reader for the YAML of task files: block and flow collections, quoted, plain and block scalars,
// comments. The types are those of the core schema of YAML 1.2. Anything else is refused.

/** Reads one document. */
export function parse(text) {
    const reader = new Reader(text);
    const value = reader.block(-1);
    if (reader.peek()) throw new Error(`line ${reader.peek().number}: unexpected text`);
    return value;
}

class Reader {
    constructor(text) {
        this.raw = text.split('\n');
        this.at = 0;
    }

    /** The next line with content. */
    peek() {
        for (; this.at < this.raw.length; this.at += 1) {
            const line = this.raw[this.at];
            const trimmed = line.trim();
            if (trimmed === '' || trimmed.startsWith('#')) continue;
            if (/^ *\t/.test(line)) throw new Error(`line ${this.at + 1}: a tab`);
            return { indent: line.length - line.trimStart().length, text: trimmed, number: this.at + 1 };
        }
        return null;
    }

    /** A collection or scalar that is indented more than its parent. */
    block(parent) {
        const line = this.peek();
        if (!line || line.indent <= parent) return null;
        if (line.text === '-' || line.text.startsWith('- ')) return this.sequence(line.indent);
        if (keyOf(line.text)) return this.mapping(line.indent);
        this.at += 1;
        return this.scalar(line.text, parent);
    }

    mapping(indent) {
        const value = {};
        for (let line = this.peek(); line && line.indent === indent && !line.text.startsWith('- '); line = this.peek()) {
            const found = keyOf(line.text);
            if (!found) throw new Error(`line ${line.number}: expected a key`);
            if (Object.hasOwn(value, found.key)) throw new Error(`line ${line.number}: the key ${found.key} appears twice`);
            this.at += 1;
            value[found.key] = this.after(found.rest, indent, true);
        }
        const next = this.peek();
        if (next && next.indent > indent) throw new Error(`line ${next.number}: wrong indentation`);
        return value;
    }

    sequence(indent) {
        const items = [];
        for (let line = this.peek(); line && line.indent === indent && /^-( |$)/.test(line.text); line = this.peek()) {
            const rest = line.text.slice(1).trim();
            if (rest && keyOf(rest) && !/^["'[{|>]/.test(rest)) {
                // A mapping that begins in the line of its dash.
                const spaces = ' '.repeat(indent + line.text.length - rest.length);
                this.raw[this.at] = spaces + rest;
                items.push(this.mapping(spaces.length));
            } else {
                this.at += 1;
                items.push(this.after(rest, indent, false));
            }
        }
        return items;
    }

    /** What follows a key or a dash. A list may have the indentation of its key. */
    after(rest, indent, isMember) {
        const text = withoutComment(rest);
        if (text !== '') return this.scalar(text, indent);
        const next = this.peek();
        if (isMember && next && next.indent === indent && /^-( |$)/.test(next.text)) return this.sequence(indent);
        return this.block(indent);
    }

    scalar(text, indent) {
        if (/^[|>]/.test(text)) return this.blockScalar(text, indent);
        if (/^["'[{]/.test(text)) {
            // Quoted texts and flow collections may go on in further lines.
            let whole = text;
            while (!isClosed(whole)) {
                if (this.at >= this.raw.length) throw new Error('a quote or bracket is not closed');
                whole += ` ${this.raw[this.at].trim()}`;
                this.at += 1;
            }
            return flow(withoutComment(whole));
        }
        let whole = text;
        for (let line = this.peek(); line && line.indent > indent; line = this.peek()) {
            whole += ` ${withoutComment(line.text)}`;
            this.at += 1;
        }
        return plain(whole);
    }

    blockScalar(header, parent) {
        const match = /^([|>])([+-]?)(\d?)([+-]?)$/.exec(header);
        if (!match) throw new Error(`line ${this.at}: ${header}`);
        const chomp = match[2] || match[4];
        const lines = [];
        let indent = match[3] ? parent + Number(match[3]) : null;
        for (; this.at < this.raw.length; this.at += 1) {
            const line = this.raw[this.at];
            const depth = line.length - line.trimStart().length;
            if (line.trim() !== '') {
                indent ??= depth;
                if (depth < indent || depth <= parent) break;
            }
            lines.push(line.slice(indent ?? line.length));
        }
        while (lines.length > 0 && lines.at(-1).trim() === '' && chomp !== '+') lines.pop();
        const joined = match[1] === '|' ? lines.join('\n') : lines.join('\n').replace(/([^\n])\n(?!\n|$)/g, '$1 ').replace(/\n\n/g, '\n');
        return joined + (chomp === '-' ? '' : '\n');
    }
}

/** The key of a line, and what follows it. */
function keyOf(text) {
    const match = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'[{&*!|>%@`,-][^#]*?|-[^\s#][^#]*?)\s*:(?:\s+(.*))?$/.exec(text);
    if (!match || /: /.test(match[1]) && !/^["']/.test(match[1])) {
        const first = /^([^\s"'[{&*!|>%@`#,-][^:#]*?|-[^\s:#][^:#]*?)\s*:(?:\s+(.*))?$/.exec(text);
        return first ? { key: String(first[1]), rest: first[2] ?? '' } : null;
    }
    const key = /^["']/.test(match[1]) ? flow(match[1]) : match[1];
    return { key, rest: match[2] ?? '' };
}

function isClosed(text) {
    let depth = 0;
    let quote = '';
    for (let i = 0; i < text.length; i += 1) {
        const letter = text[i];
        if (quote === '"' && letter === '\\') i += 1;
        else if (quote) quote = letter === quote ? '' : quote;
        else if (letter === '"' || (letter === "'" && !/[\w]/.test(text[i - 1] ?? ''))) quote = letter;
        else if ('[{'.includes(letter)) depth += 1;
        else if (']}'.includes(letter)) depth -= 1;
    }
    return depth === 0 && quote === '';
}

function withoutComment(text) {
    let quote = '';
    for (let i = 0; i < text.length; i += 1) {
        const letter = text[i];
        if (quote === '"' && letter === '\\') i += 1;
        else if (quote) quote = letter === quote ? '' : quote;
        else if ((letter === '"' || letter === "'") && (i === 0 || /[\s[{,:]/.test(text[i - 1]))) quote = letter;
        else if (letter === '#' && (i === 0 || /\s/.test(text[i - 1]))) return text.slice(0, i).trimEnd();
    }
    return text.trimEnd();
}

/** A quoted text or a flow collection. */
function flow(text) {
    let at = 0;
    const skip = () => { while (/\s/.test(text[at] ?? '')) at += 1; };
    const value = () => {
        skip();
        if (text[at] === '"') return double();
        if (text[at] === "'") return single();
        if (text[at] === '[') return items(']', () => value());
        if (text[at] === '{') return Object.fromEntries(items('}', () => {
            const key = text[at] === '"' || text[at] === "'" ? value() : bare(/[:,}]/);
            skip();
            if (text[at] !== ':') return [key, null];
            at += 1;
            return [key, value()];
        }));
        return plain(bare(/[,\]}]/));
    };
    const bare = (stop) => {
        const from = at;
        while (at < text.length && !(stop.test(text[at]) && (text[at] !== ':' || /[\s,}]|$/.test(text[at + 1] ?? '')))) at += 1;
        return text.slice(from, at).trim();
    };
    const items = (close, item) => {
        const found = [];
        at += 1;
        for (skip(); text[at] !== close; skip()) {
            if (at >= text.length) throw new Error(`${close} is missing`);
            found.push(item());
            skip();
            if (text[at] === ',') at += 1;
            else if (text[at] !== close) throw new Error(`expected , or ${close} in ${text}`);
            skip();
        }
        at += 1;
        return found;
    };
    const single = () => {
        let found = '';
        for (at += 1; at < text.length; at += 1) {
            if (text[at] !== "'") found += text[at];
            else if (text[at + 1] === "'") { found += "'"; at += 1; } else { at += 1; return found; }
        }
        throw new Error('a quote is not closed');
    };
    const ESCAPES = { n: '\n', t: '\t', r: '\r', 0: '\0', b: '\b', f: '\f', a: '\x07', v: '\v', e: '\x1b', N: '\x85', _: '\xa0', L: '\u2028', P: '\u2029' };
    const double = () => {
        let found = '';
        for (at += 1; at < text.length; at += 1) {
            if (text[at] === '"') { at += 1; return found; }
            if (text[at] !== '\\') { found += text[at]; continue; }
            at += 1;
            const size = { x: 2, u: 4, U: 8 }[text[at]];
            if (size) {
                found += String.fromCodePoint(Number.parseInt(text.slice(at + 1, at + 1 + size), 16));
                at += size;
            } else {
                found += ESCAPES[text[at]] ?? text[at];
            }
        }
        throw new Error('a quote is not closed');
    };
    const found = value();
    skip();
    if (at < text.length) throw new Error(`unexpected text after a value: ${text.slice(at)}`);
    return found;
}

/** A plain scalar, as the core schema reads it. */
function plain(text) {
    if (/^(?:~|null|Null|NULL|)$/.test(text)) return null;
    if (/^(?:true|True|TRUE)$/.test(text)) return true;
    if (/^(?:false|False|FALSE)$/.test(text)) return false;
    if (/^[-+]?[0-9]+$/.test(text) || /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(text)) return Number(text);
    if (/^0o[0-7]+$/.test(text)) return Number.parseInt(text.slice(2), 8);
    if (/^0x[0-9a-fA-F]+$/.test(text)) return Number.parseInt(text.slice(2), 16);
    if (/^[&*!%@`|>]/.test(text)) throw new Error(`cannot read ${text}`);
    return text;
}
