// Reads the tags and texts of HTML once, as browsers split it: entities decoded, comments left out.
// Takes linear time.
import { Tokenizer } from 'htmlparser2';

/** Longest part of the HTML that is searched for hidden words, notes, codes and links. */
export const mostCharacters = 256 * 1024;
const mostAttributes = 100;
/** Longest value of an attribute that is kept: a picture in a `data:` address takes no memory. */
const longestValue = 64 * 1024;

/** Names are lower case. The first of two equal attributes counts. */
export type Attributes = ReadonlyMap<string, string>;

/** Characters read between two questions whether the reader is done. */
const chunkCharacters = 16 * 1024;

interface TokenReader {
  /** Ends the reading early. */
  isDone?(): boolean;
  open(name: string, attributes: Attributes, isSelfClosing: boolean): void;
  close(name: string): void;
  /** Takes the whole text between two tags, and the place of the text in the HTML. */
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
