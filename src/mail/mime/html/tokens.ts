// Reads the tags and texts of HTML once, as browsers split it: entities decoded, comments left out. Takes linear time.
import { Tokenizer } from 'htmlparser2';

/** Longest part of the HTML that is read. */
export const mostCharacters = 256 * 1024;
const mostAttributes = 100;

/** Names are lower case. The first of two equal attributes counts. */
export type Attributes = ReadonlyMap<string, string>;

interface TokenReader {
  open(name: string, attributes: Attributes, isSelfClosing: boolean): void;
  close(name: string): void;
  /** Takes the whole text between two tags, and its place in the HTML. */
  text(words: string, start: number, end: number): void;
}

/** Passes the tags and texts of the first 256 KB to `reader`. */
export function readTokens(whole: string, reader: TokenReader): void {
  const html = whole.slice(0, mostCharacters);
  let name = '';
  let attributes = new Map<string, string>();
  let attribute = '';
  let value = '';
  let words = '';
  let start = -1;
  let end = -1;
  const endText = () => {
    if (start >= 0) reader.text(words, start, end);
    words = '';
    start = -1;
  };
  const add = (piece: string, from: number, to: number) => {
    if (start < 0) start = from;
    words += piece;
    end = to;
  };
  const open = (isSelfClosing: boolean) => {
    reader.open(name, attributes, isSelfClosing);
    attributes = new Map();
  };
  const tokenizer = new Tokenizer(
    {},
    {
      ontext: (from, to) => add(html.slice(from, to), from, to),
      ontextentity: (code, to) =>
        add(String.fromCodePoint(code), html.lastIndexOf('&', to - 1), to),
      onopentagname(from, to) {
        endText();
        name = html.slice(from, to).toLowerCase();
      },
      onattribname(from, to) {
        attribute = html.slice(from, to).toLowerCase();
        value = '';
      },
      onattribdata(from, to) {
        value += html.slice(from, to);
      },
      onattribentity(code) {
        value += String.fromCodePoint(code);
      },
      onattribend() {
        if (attributes.size < mostAttributes && !attributes.has(attribute)) {
          attributes.set(attribute, value);
        }
      },
      onopentagend: () => open(false),
      onselfclosingtag: () => open(true),
      onclosetag(from, to) {
        endText();
        reader.close(html.slice(from, to).toLowerCase());
      },
      onend: endText,
      ...{ oncdata: endText, oncomment: endText, ondeclaration: endText },
      onprocessinginstruction: endText,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
}
