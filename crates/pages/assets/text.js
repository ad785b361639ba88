// Texts of agents with every character visible. The lists are those of src/text.rs in the crate
// `pages`; a test compares them.

const HIDDEN = [
  [0x0000, 0x0008], [0x000b, 0x001f], [0x007f, 0x009f], [0x00ad, 0x00ad], [0x034f, 0x034f],
  [0x061c, 0x061c], [0x115f, 0x1160], [0x17b4, 0x17b5], [0x180b, 0x180f], [0x200b, 0x200b],
  [0x200e, 0x200f], [0x2028, 0x202e], [0x2060, 0x206f], [0x3164, 0x3164], [0xfeff, 0xfeff],
  [0xffa0, 0xffa0], [0xfff0, 0xfffb], [0x1d173, 0x1d17a], [0xe0000, 0xe0fff],
];

const JOINING = [[0x200c, 0x200d], [0xfe00, 0xfe0f]];

const isIn = (ranges, code) => ranges.some(([first, last]) => first <= code && code <= last);

// Nodes that show a text. A character that cannot be seen becomes its code point in a box.
export function visible(text) {
  const nodes = document.createDocumentFragment();
  let run = "";
  let before = 0;
  for (const letter of text) {
    const code = letter.codePointAt(0);
    if (isIn(HIDDEN, code) || (isIn(JOINING, code) && before < 0x80)) {
      nodes.append(run);
      run = "";
      const box = document.createElement("span");
      box.className = "codepoint";
      box.textContent = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
      nodes.append(box);
    } else {
      run += letter;
    }
    before = code;
  }
  nodes.append(run);
  return nodes;
}
