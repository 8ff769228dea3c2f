// Reads the tags and texts of HTML once and splits them as browsers do. Entities are decoded,
// comments dropped. Takes linear time.
import { Tokenizer } from 'htmlparser2';

/** Most characters of HTML that are searched for hidden words and for notes to an approver. */
export const mostCharacters = 256 * 1024;
const mostAttributes = 100;
/** Longest attribute value that is kept, so that a picture in a `data:` address takes no memory. */
const longestValue = 64 * 1024;

/** Attributes by lower-case name. Of two equal names the first counts. */
export type Attributes = ReadonlyMap<string, string>;

/** Number of characters read between two calls of `isDone`. */
const chunkCharacters = 16 * 1024;

interface TokenReader {
  /** True ends the reading early. */
  isDone?(): boolean;
  open(name: string, attributes: Attributes, isSelfClosing: boolean): void;
  close(name: string): void;
  /** Called with the whole text between two tags, and the position of the text in the HTML. */
  text(words: string, start: number, end: number): void;
}

const noAttributes: Attributes = new Map();

/** Passes all tags and texts to `reader`. Takes about 0.1 s for a megabyte. */
export function readTokens(html: string, reader: TokenReader): void {
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
    reader.open(name, attributes.size === 0 ? noAttributes : attributes, isSelfClosing);
    if (attributes.size > 0) attributes = new Map();
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
        if (value.length < longestValue) value += html.slice(from, to);
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
      oncdata: endText,
      oncomment: endText,
      ondeclaration: endText,
      onprocessinginstruction: endText,
    },
  );
  for (let at = 0; at < html.length && !reader.isDone?.(); at += chunkCharacters) {
    tokenizer.write(html.slice(at, at + chunkCharacters));
  }
  tokenizer.end();
}
