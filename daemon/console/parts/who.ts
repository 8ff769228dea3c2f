// A person in a row: initials, name and address.
import { html, type Part } from '../html.ts';

/** Draws an address, a host name or a URL so that lines break behind `@`, dots and slashes. */
export function addressPart(address: string): Part {
  return address
    .split(/(?<=[@./])/)
    .map((piece, at) => (at === 0 ? piece : [html`<wbr />`, piece]));
}

const tones = ['a', 'b', 'c', ''];

/** Returns the initials of a name: of the first and of the last word. */
function initialsOf(name: string): string {
  const words = name.split(/[\s.@_-]+/).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined];
  return (
    letters
      .map((word) => [...(word ?? '')][0] ?? '')
      .join('')
      .toUpperCase() || '?'
  );
}

interface Who {
  name: string | null;
  email: string;
}

/** Draws a person; `path` below `/console` makes the name a link. */
export function who({ name, email }: Who, path?: string): Part {
  const sum = [...email].reduce((all, letter) => all + (letter.codePointAt(0) ?? 0), 0);
  const shown = html`<b>${name ?? addressPart(email)}</b>`;
  return html`<span class="who"><span class=${`av s ${tones[sum % tones.length]}`} aria-hidden="true">${initialsOf(name ?? email)}</span>
    <span>${path === undefined ? shown : html`<a href=${`/console${path}`}>${shown}</a>`}${name !== null && html` <small>${addressPart(email)}</small>`}</span></span>`;
}
