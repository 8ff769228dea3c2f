// Draws values that a person copies with a button. Without a script the button is hidden, and a
// click selects the whole value.
import { html, type Part } from '../html.ts';
import { icon } from './icon.ts';

/** Draws a value with a button that copies it. `shown` is drawn instead of the value. */
export function copy(value: string, shown: Part = value): Part {
  return html`<span class="copy"><code>${shown}</code>
    <button type="button" class="btn plain js" data-copy=${value} aria-label="Copy">${icon('copy')}</button></span>`;
}
