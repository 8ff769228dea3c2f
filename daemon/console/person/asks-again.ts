// "Is it still you?": the page before an action that asks for a fresh proof. It shows the typed
// form, which waits ten minutes, and sends it by a button once the proof is there.
//
//   session of      | proofs
//   ----------------+-------------------------------------------------------
//   a key           | the key, pasted again
//   the operator    | a link of `svc open`, for 15 minutes
import { dropInput, findInput, type Waiting } from '../../../src/access/sessions/kept-input.ts';
import { recordProof } from '../../../src/access/sessions/person-sessions.ts';
import { freshMs, lastProofAt } from '../../../src/access/sessions/proofs.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import { withQuery } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page, View } from '../page.ts';
import { button, field, form, time } from '../parts.ts';

const longestShown = 300;

/** Returns the name of a field in words: `expiresAt` is "Expires at". */
function inWords(name: string): string {
  const words = name.replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Draws the typed form. */
function typed({ fields }: Waiting): Part {
  const given = Object.entries(fields).filter(([name, value]) => name !== '_action' && value);
  if (given.length === 0) return null;
  return html`<dl class="facts">${given.map(
    ([name, value]) =>
      html`<div><dt>${inWords(name)}</dt><dd>${value.slice(0, longestShown)}${value.length > longestShown && ' …'}</dd></div>`,
  )}</dl>`;
}

/** Draws the proofs that a session can give. */
function proofs(asked: Asked): Part {
  const { by } = asked.caller;
  if (by.kind === 'operator') {
    return html`<p>Run "svc open" once more on the machine of the service, and open its link in this browser.</p>`;
  }
  const label = 'The API key that you signed in with';
  const key = { name: 'key', label, type: 'password', isRequired: true };
  return form(asked, 'key', 'It is still me', field(key));
}

async function show(asked: Asked, problem: Part = null): Promise<View> {
  const { app, session, now, caller } = asked;
  const kept = await findInput(app, session.token);
  if (!kept) {
    const body = html`<p>No form waits here. A form waits ten minutes: type it again.</p>`;
    return { title: 'Nothing waits', body };
  }
  if (kept.organizationId !== caller.organizationId) {
    const text = `The form that waits is of another organization, and you are in ${session.organization.name} now. Nothing was done. Switch back to send it.`;
    return { status: 409, title: 'Another organization', body: html`<p>${text}</p>` };
  }
  const { asks } = kept;
  const drop = button(asked, { action: 'drop', label: `Do not ${asks}` });
  const provenAt = lastProofAt(session.proofs, session.strength);
  if (now - provenAt < freshMs) {
    const label = asks.charAt(0).toUpperCase() + asks.slice(1);
    // The page of the form answers, so a refusal shows its form again.
    const target = withQuery(
      `/console${kept.path}`,
      Object.fromEntries(new URLSearchParams(kept.search)),
    );
    const send = html`<form method="post" class="action" action=${target}>
      <input type="hidden" name="_form" value=${asked.formToken} />
      <input type="hidden" name="_kept" value="1" />
      <button class="first">${label}</button>
    </form>`;
    const body = together(typed(kept), html`<div class="row">${send} ${drop}</div>`);
    return { title: `It is you. ${label}?`, body };
  }
  const body = together(
    problem,
    html`<p>Your last proof is of ${time(isoTime(provenAt))}. This needs a proof of the last 15 minutes.</p>`,
    proofs(asked),
    html`<h2>Your form waits until ${time(isoTime(kept.until))}</h2>`,
    typed(kept),
    html`<p class="note">Nothing is done yet. You see it once more and press the button yourself.</p>`,
    drop,
  );
  return { title: `Before you ${asks}: is it still you?`, body };
}

/** Draws the page of a session that lacks a proof which the organization asks for. */
export async function showProofs({ session }: Asked): Promise<View> {
  const text = `${session.organization.name} opens by a passkey or single sign-on alone.`;
  return { status: 403, title: 'A stronger sign-in is needed', body: html`<p>${text}</p>` };
}

export const asksAgainPages: readonly Page[] = [
  {
    path: '/asks-again',
    needs: null,
    show: (asked) => show(asked),
    actions: {
      key: {
        needs: null,
        async run(asked, given) {
          const { app, session, caller } = asked;
          const pasted = await asked.authenticate(given['key']?.trim() ?? '');
          if (pasted?.keyId && pasted.keyId === caller.keyId) {
            await recordProof(app, session.token, 'key');
            return '/console/asks-again';
          }
          const problem = html`<p class="problem" role="alert">This is not the key that you signed in with.</p>`;
          return { ...(await show(asked, problem)), status: 401 };
        },
      },
      drop: {
        needs: null,
        async run({ app, session }) {
          await dropInput(app, session.token);
          return '/console';
        },
      },
    },
  },
];
