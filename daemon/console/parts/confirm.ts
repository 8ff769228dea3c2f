// The question before a destructive action. It opens without a script, and says which data goes.
// Where nothing brings the data back, the person types the name.
import { Refusal } from '../api.ts';
import { html, type Part } from '../html.ts';
import type { Asked, Form } from '../page.ts';
import { hidden } from './form.ts';

interface Confirmed {
  action: string;
  /** Label of both buttons, such as "Delete the domain". */
  label: string;
  /** The question, such as "Delete acme.example?" */
  question: string;
  /** Sentence about data that goes, and data that stays. */
  goes: Part;
  fields?: Readonly<Record<string, string>>;
  /** Further fields of the form. */
  more?: Part;
  /** Name to type; the action checks the typed name by `requireTyped`. */
  typedName?: string;
  /** Path below `/console` of the page with the action; this page if left out. */
  path?: string;
  /** Classes of the button that opens the question. */
  look?: string;
}

const field = 'typed';

/** Draws a button that opens a question. The form of the question posts the action. */
export function confirmed(asked: Asked, given: Confirmed): Part {
  const { action, label, question, goes, fields = {}, more, typedName, path, look } = given;
  const id = ['sure', action, ...Object.values(fields)].join('-').replaceAll(/[^\w-]/g, '');
  return html`<button type="button" class=${`btn ${look ?? 'bad'}`} popovertarget=${id}>${label} …</button>
    <div popover="auto" id=${id} role="dialog" aria-labelledby=${`h-${id}`}><h2 id=${`h-${id}`}>${question}</h2>
      <p>${goes}</p>
      <form method="post" action=${path && `/console${path}`}>${hidden(asked, action, { ...fields, _sure: '1' })}${more}
        ${typedName !== undefined && html`<label class="field"><span>Type <b>${typedName}</b> to confirm</span> <input name=${field} required autocomplete="off" /></label>`}
        <div class="row"><button type="button" class="btn" popovertarget=${id} popovertargetaction="hide">Keep it</button>
          <button class="btn bad">${label}</button></div></form>
    </div>`;
}

/** Checks the name that a person typed. @throws Refusal that names the field */
export function requireTyped(given: Form, name: string): void {
  if (given[field]?.trim() === name) return;
  const problem = `type "${name}" to confirm`;
  const message = `Nothing was done: ${problem}.`;
  throw new Refusal(422, { message, fields: { [field]: [problem] } }, '');
}
