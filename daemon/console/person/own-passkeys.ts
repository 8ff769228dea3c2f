// Passkeys in My account: a person adds several, names them and removes them.

import {
  registrationOptions,
  removePasskey,
  renamePasskey,
  signInOptions,
  verifyRegistration,
} from '../../../src/access/passkeys/passkeys.ts';
import { selectPasskeys } from '../../../src/access/passkeys/queries.ts';
import { PasskeyRefusal } from '../../../src/access/passkeys/refusals.ts';
import { passkeySite } from '../../../src/access/passkeys/site.ts';
import { freshMs, lastProofAt } from '../../../src/access/sessions/proofs.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import { Refusal } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import type { Action, Asked, Form, Page, View } from '../page.ts';
import { confirmed } from '../parts/confirm.ts';
import { button, field, form, hidden } from '../parts/form.ts';
import { table } from '../parts/table.ts';
import { time } from '../parts/times.ts';
import { personOf } from './person.ts';

/** Draws the passkeys of the person, and the button that adds one. */
export async function passkeys(asked: Asked): Promise<Part> {
  const { app } = asked;
  const rows = await selectPasskeys(app.store.db, personOf(asked).personId);
  const list = table(
    asked,
    { items: rows },
    [
      [
        'Passkey',
        ({ name, refused_at }) =>
          html`<b>${name}</b>${refused_at !== null && ' (refused: remove it)'}`,
      ],
      ['Added', ({ created_at }) => time(isoTime(created_at))],
      [
        'Last used',
        ({ last_used_at }) => (last_used_at === null ? 'never' : time(isoTime(last_used_at))),
      ],
      ['Change', ({ id, name }) => changes(asked, id, name)],
    ],
    'You have no passkey yet. A passkey signs in without mail, and nobody can steal it by a false page.',
  );
  return together(html`<h2>Passkeys</h2>`, list, adding(asked));
}

function adding(asked: Asked): Part {
  const site = passkeySite(asked.app);
  if (!site)
    return html`<p class="soft">Passkeys need https and the name of a host (http.publicUrl).</p>`;
  return together(
    button(asked, { action: 'beginPasskey', label: 'Add a passkey' }),
    html`<p class="soft">A browser with scripts is needed. Passkeys belong to <a href=${`${site.origin}/console/account`}>${site.origin}</a>.</p>`,
  );
}

function changes(asked: Asked, id: string, name: string): Part {
  return html`<details><summary>Rename or remove</summary>
    ${form(
      asked,
      'renamePasskey',
      'Rename',
      together(
        html`<input type="hidden" name="id" value=${id} />`,
        field({ name: 'name', label: 'Name of the passkey', value: name, isRequired: true }),
      ),
    )}
    ${confirmed(asked, { action: 'removePasskey', label: `Remove ${name}`, question: `Remove ${name}?`, goes: 'It does not sign you in any more.', fields: { id } })}
  </details>`;
}

const addingOf = (asked: Asked) => ({
  personId: personOf(asked).personId,
  browser: asked.session.token,
  isStronglyProven: asked.now - lastProofAt(asked.session.proofs, 'strong') < freshMs,
});

const path = '/console/account';
const addingPath = `${path}/passkey`;

/** Draws the form that makes a passkey. Its script asks the browser. */
async function show(asked: Asked): Promise<View> {
  const body = html`<form method="post" action=${path} class="fields" data-passkey="/console/passkey-question">
    ${hidden(asked, 'addPasskey', { purpose: 'add', credential: '' })}
    ${field({ name: 'name', label: 'Name of the passkey', value: 'Passkey', hint: 'Such as Office PC. Only you see it.' })}
    <div class="row"><button class="btn first">Make the passkey</button></div>
  </form><p><a href="/console/account">Back to My account</a></p>`;
  return { title: 'Add a passkey', body };
}

/** Returns the WebAuthn options for the browser: for a new passkey, or for a proof. */
export async function passkeyQuestion(asked: Asked, { purpose }: Form): Promise<object> {
  const { app, session } = asked;
  const { personId } = personOf(asked);
  const options =
    purpose === 'add'
      ? await registrationOptions(app, addingOf(asked))
      : await signInOptions(app, { purpose: 'proof', browser: session.token, personId });
  if (options instanceof PasskeyRefusal) throw new Refusal(409, { message: options.message }, '');
  return options;
}

export const passkeyActions: Readonly<Record<string, Action>> = {
  beginPasskey: {
    needs: null,
    asks: 'add a passkey',
    async run(asked) {
      // Refuses before the browser asks the person for a fingerprint or a PIN.
      await passkeyQuestion(asked, { purpose: 'add' });
      return addingPath;
    },
  },
  addPasskey: {
    needs: null,
    asks: 'add a passkey',
    async run(asked, { credential = '', name = '' }) {
      const answer = { response: credential, name };
      const added = await verifyRegistration(asked.app, addingOf(asked), answer);
      if (added instanceof PasskeyRefusal) throw new Refusal(409, { message: added.message }, '');
      return path;
    },
  },
  renamePasskey: {
    needs: null,
    asks: 'rename this passkey',
    async run(asked, { id = '', name = '' }) {
      await renamePasskey(asked.app, { id, person_id: personOf(asked).personId }, name);
      return path;
    },
  },
  removePasskey: {
    needs: null,
    asks: 'remove this passkey',
    destroys: true,
    async run(asked, { id = '' }) {
      await removePasskey(asked.app, { id, person_id: personOf(asked).personId });
      return path;
    },
  },
};

/** The page that makes a passkey. */
export const passkeyPage: Page = { path: '/account/passkey', needs: null, show };
