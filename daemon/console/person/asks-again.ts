// "Is it still you?": the page before an action that asks for a fresh proof. It shows the typed
// form, which waits ten minutes, and sends it by a button once the proof is there.
//
//   session of      | proofs
//   ----------------+------------------------------------------------------------------------
//   a person        | a passkey; a mailed link, unless the organization asks for more; the
//                   | provider
//   a key           | the key, pasted again
//   the operator    | a link of `svc open`, for 15 minutes
import { verifySignIn } from '../../../src/access/passkeys/passkeys.ts';
import { PasskeyRefusal } from '../../../src/access/passkeys/refusals.ts';
import { countFailure } from '../../../src/access/sessions/failures.ts';
import { dropInput, findInput, type Waiting } from '../../../src/access/sessions/kept-input.ts';
import { recordProof } from '../../../src/access/sessions/person-sessions.ts';
import {
  freshMs,
  isAccepted,
  lastProofAt,
  type Strength,
} from '../../../src/access/sessions/proofs.ts';
import { providerName } from '../../../src/core/config/console.ts';
import { askForLink } from '../../../src/outbound/sending/people/sign-in.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import { hashOfToken } from '../../../src/platform/runtime/tokens.ts';
import { Refusal, withQuery } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page, View } from '../page.ts';
import { button, field, form, hidden, posting } from '../parts/form.ts';
import { time } from '../parts/times.ts';
import { personOf } from './person.ts';

const path = '/console/asks-again';
const longestShown = 300;

/** Returns the name of a field in words: `expiresAt` is "Expires at". */
function inWords(name: string): string {
  const words = name.replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Fields that no person typed, beside the fields that begin with `_`. */
const untyped = ['credential', 'purpose'];

/** Draws the typed form. */
function typed({ fields }: Waiting): Part {
  const given = Object.entries(fields).filter(([name, value]) => {
    return value && !name.startsWith('_') && !untyped.includes(name);
  });
  if (given.length === 0) return null;
  return html`<dl class="facts">${given.map(
    ([name, value]) =>
      html`<div><dt>${inWords(name)}</dt><dd>${value.slice(0, longestShown)}${value.length > longestShown && ' …'}</dd></div>`,
  )}</dl>`;
}

/** Draws the proofs that a session can give. */
function proofs(asked: Asked, strength: Strength): Part {
  const { caller, config } = asked;
  if (caller.by.kind === 'operator') {
    return html`<p>Run "svc open" once more on the machine of the service, and open its link in this browser.</p>`;
  }
  if (caller.by.kind !== 'member') {
    const label = 'The API key that you signed in with';
    const key = { name: 'key', label, type: 'password', isRequired: true };
    return form(asked, 'key', 'It is still me', field(key));
  }
  const { link, passkeys, oidc } = config.console.signIn;
  const byPasskey = html`<form method="post" action=${path} class="action" data-passkey="/console/passkey-question" hidden>
    ${hidden(asked, 'passkey', { purpose: 'proof', credential: '' })}
    <button class="btn first">Use a passkey</button>
  </form>`;
  const byLink = button(asked, {
    action: 'link',
    label: 'Mail me a link',
    isFirst: !(passkeys && isAccepted('passkey', strength)),
    path: '/asks-again',
  });
  const byProvider = html`<a class="btn" href="/console/sign-in/provider?for=proof">Continue with ${oidc.label}</a>`;
  return html`<div class="row">
    ${passkeys && isAccepted('passkey', strength) && byPasskey}
    ${link && isAccepted('link', strength) && byLink}
    ${oidc.issuer !== null && byProvider}
  </div>`;
}

async function show(asked: Asked): Promise<View> {
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
  const { asks, strength } = kept;
  if (asks === '') return showEnded(asked, kept);
  const drop = button(asked, { action: 'drop', label: `Do not ${asks}` });
  const provenAt = lastProofAt(session.proofs, strength);
  if (now - provenAt < freshMs) {
    const label = asks.charAt(0).toUpperCase() + asks.slice(1);
    const body = together(
      typed(kept),
      html`<div class="row">${sending(asked, kept, label)} ${drop}</div>`,
    );
    return { title: `It is you. ${label}?`, body };
  }
  const last = provenAt > 0 && html`Your last proof is of ${time(isoTime(provenAt))}.`;
  const body = together(
    html`<p>${last} This needs a proof of the last 15 minutes.</p>`,
    proofs(asked, strength),
    html`<h2>Your form waits until ${time(isoTime(kept.until))}</h2>`,
    typed(kept),
    html`<p class="soft">Nothing is done yet. You see it once more and press the button yourself.</p>`,
    drop,
  );
  return { title: `Before you ${asks}: is it still you?`, body };
}

/** Draws a form that was sent after the end of the session. */
function showEnded(asked: Asked, kept: Waiting): View {
  const drop = button(asked, { action: 'drop', label: 'Throw it away' });
  const body = together(
    html`<p>Your session was over before you sent this form, so nothing was done. It waits until ${time(isoTime(kept.until))}.</p>`,
    typed(kept),
    html`<div class="row">${sending(asked, kept, 'Send it now')} ${drop}</div>`,
  );
  return { title: 'What you typed is still here', body };
}

/** Draws the button that posts the kept form to the page of the form, which shows a refusal. */
function sending(asked: Asked, { path: page, search }: Waiting, label: string): Part {
  const query = Object.fromEntries(new URLSearchParams(search));
  return posting(asked, withQuery(page, query), { _kept: '1' }, label, 'first');
}

/** Draws the page of a session that lacks a proof which the organization asks for. */
export async function showProofs(asked: Asked): Promise<View> {
  const { session, caller, config } = asked;
  const { name } = session.organization;
  const isMember = caller.by.kind === 'member';
  const way =
    session.strength === 'provider' ? providerName(config) : `a passkey or ${providerName(config)}`;
  const body = together(
    html`<p>${name} opens by ${way} alone.</p>`,
    isMember && proofs(asked, session.strength),
    isMember &&
      html`<p>No passkey yet? Somebody who joined a short time ago adds the first passkey in <a href="/console/account">My account</a>, where other organizations are too.</p>`,
    !isMember && html`<p>Pasted keys open no console here. Sign out, then sign in as a person.</p>`,
  );
  return { status: 403, title: 'A stronger sign-in is needed', body };
}

export const asksAgainPages: readonly Page[] = [
  {
    path: '/asks-again',
    needs: null,
    show,
    actions: {
      key: {
        needs: null,
        async run(asked, given) {
          const { app, session, caller } = asked;
          const pasted = await asked.authenticate(given['key']?.trim() ?? '');
          if (pasted?.keyId && pasted.keyId === caller.keyId) {
            await recordProof(app, hashOfToken(session.token), 'key');
            return path;
          }
          throw new Refusal(401, { message: 'This is not the key that you signed in with.' }, '');
        },
      },
      passkey: {
        needs: null,
        async run(asked, { credential = '' }) {
          const { app, session } = asked;
          const { personId } = personOf(asked);
          const asking = { purpose: 'proof', browser: session.token, personId } as const;
          const passkey = await verifySignIn(app, asking, credential);
          if (passkey instanceof PasskeyRefusal) {
            await countFailure(app, 'passkey', passkey.personId);
            throw new Refusal(401, { message: passkey.message }, '');
          }
          await recordProof(app, hashOfToken(session.token), 'passkey');
          return (await findInput(app, session.token)) ? path : '/console';
        },
      },
      link: {
        needs: null,
        async run({ app, session, caller, visitor, browserToken }) {
          const { email } = personOf({ caller });
          askForLink(app, { email, ...visitor, browserToken, sessionToken: session.token });
          const body = html`<p>A link is on its way to ${email}. Open it in this browser within 15 minutes, then come back here.</p>
            <p><a href=${path}>Back to your form</a></p>`;
          return { title: 'Check your mail', body };
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
