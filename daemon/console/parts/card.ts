// Cards, and parts that are folded.
import { html, type Part } from '../html.ts';

interface CardOptions {
  /** Part to the right of the title, such as a link to the whole list. */
  more?: Part;
  id?: string;
}

/** Draws a card: a title, and a body that lists and tables fill to the edge. */
export function card(title: string, body: Part, { more, id }: CardOptions = {}): Part {
  const heading = `h-${id ?? title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
  return html`<section class="card" id=${id} aria-labelledby=${heading}>
    <header><h2 id=${heading}>${title}</h2>${more && html`<span class="right">${more}</span>`}</header>
    <div class="in">${body}</div>
  </section>`;
}

/** Draws a folded part: the title with a short text beside it, and below it the body. */
export function folded(title: string, body: Part, soft: Part = null): Part {
  return html`<details class="fold"><summary><b>${title}</b>${soft && html` <small>${soft}</small>`}</summary>
    <div class="in">${body}</div></details>`;
}

/** Draws a separate card that is folded unless `isOpen`, such as after a refusal. */
export function foldedCard(title: string, body: Part, soft: Part, isOpen = false): Part {
  return html`<section class="card folds" aria-label=${title}><details open=${isOpen}><summary><b>${title}</b> <small>${soft}</small></summary>
    <div class="in">${body}</div></details></section>`;
}
