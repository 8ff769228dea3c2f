// Signing in by mail: the form that asks for a link, and the page behind a mailed link. GET only
// draws, since scanners of mail follow links; the button of the page uses the link. The answer
// after it is a page that continues on its own: after a redirect the browser would not send the new
// cookie (begin.ts).
import type { FastifyRequest } from 'fastify';
import { normalAddress } from '../../../src/access/members/address.ts';
import { countFailure } from '../../../src/access/sessions/failures.ts';
import {
  holderOfLink,
  type MailedLink,
  readMailedLink,
  useMailedLink,
} from '../../../src/access/sessions/mailed-links.ts';
import { recordProof } from '../../../src/access/sessions/person-sessions.ts';
import { askForLink } from '../../../src/outbound/sending/people/sign-in.ts';
import { siteOf } from '../../../src/platform/net/network-address.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import { hashOfToken } from '../../../src/platform/runtime/tokens.ts';
import { visitorOf } from '../../http/visitor.ts';
import type { Answer } from '../answers.ts';
import { browserIn } from '../browser-request.ts';
import { html, type Part } from '../html.ts';
import { time } from '../parts/times.ts';
import { addressPart } from '../parts/who.ts';
import { type Door, plainAnswer, readFields, readOwnForm, type Site, sentence } from '../site.ts';
import { goesOn, signInPerson } from './begin.ts';
import { signInPage, tooOld } from './sign-in.ts';

/**
 * Requests a link by mail. The answer depends only on the typed text, so that it does not reveal
 * whether the address has an account.
 */
export const askByMail: Door = async (site, request) => {
  const { app, cookies } = site;
  const form = await readOwnForm(site, request);
  if (!form) return signInPage(site, request, tooOld);
  const email = (form['email'] ?? '').trim();
  if (normalAddress(email) === null) {
    const problem = 'This is no mail address. Type one such as ann@example.com.';
    return signInPage(site, request, { status: 422, problem });
  }
  const browserToken = cookies.read(request, 'svc_console_browser');
  const address = visitorOf(app, request.raw);
  askForLink(app, { email, browser: browserIn(request), address, browserToken });
  const body = html`<p>If this address has an account, a link is on its way. It works for 15 minutes.</p>
    <p class="waits"><b>${addressPart(email)}</b></p>
    <h2>Nothing there after two minutes?</h2>
    <ul>
      <li>Look in the spam folder.</li>
      <li>Is this the address that was invited? If not, <a href="/console/sign-in">type it again</a>.</li>
      <li>Some mail servers let a new sender wait. We try five times, the last time after 12 minutes.</li>
      <li>After five links in an hour, or 90 days away, none is mailed. An owner of your organization can help.</li>
    </ul>
    <form method="post" action="/console/sign-in/mail">
      <input type="hidden" name="_form" value=${form['_form']} />
      <input type="hidden" name="email" value=${email} />
      <button class="btn">Mail another link</button>
    </form>
    <p><a href="/console/sign-in">Sign in another way</a></p>
    <p class="soft">You may open the link on any device: it signs in the browser it is opened in.</p>`;
  return plainAnswer(site, 200, { title: 'Check your mail', body });
};

interface LinkPage {
  title: string;
  text: string;
  button: string;
}

const pages: Readonly<Record<MailedLink['purpose'], (email: string) => LinkPage>> = {
  'sign-in': (email) => ({
    title: `Sign in as ${email}?`,
    text: 'Was it you who asked for this link?',
    button: 'Sign in',
  }),
  proof: (email) => ({
    title: 'Is it still you?',
    text: `A form of ${email} waits for this proof, in the browser that asked.`,
    button: 'It is me',
  }),
  address: (email) => ({
    title: 'Change your address?',
    text: `Your account gets the address ${email}. Your former address is told.`,
    button: 'Change it',
  }),
  'take-back': () => ({
    title: 'Stop the change of your address?',
    text: 'Your account keeps its former address, or gets it back. All sessions end.',
    button: 'Stop it',
  }),
  'end-sessions': (email) => ({
    title: 'End all sessions?',
    text: `Every browser that is signed in as ${email} is signed out.`,
    button: 'End all sessions',
  }),
};

const done: Readonly<Record<'address' | 'take-back' | 'end-sessions', string>> = {
  address: 'Your account has the new address. Sign in by it from now on.',
  'take-back': 'The change of your address is stopped, and all sessions ended. Sign in anew.',
  'end-sessions': 'All sessions of your account ended. Sign in anew, and look at My account.',
};

function late(site: Site, request: FastifyRequest): Answer {
  return signInPage(site, request, { status: 410, state: 'late' });
}

export const linkPage: Door = async (site, request, { token = '' }) => {
  const link = await site.workload.begin(() => readMailedLink(site.app, token));
  if (!link) return late(site, request);
  const { title, text, button } = pages[link.purpose](link.email);
  const body = html`<p>${text}</p>${askerOf(site, request, link)}
    <form method="post"><button class="btn first">${button}</button></form>
    <form method="post"><button class="btn" name="decline" value="1">I did not ask for this</button></form>
    <p class="soft">The link works once, until ${time(isoTime(link.expiresAt))} UTC.</p>`;
  return plainAnswer(site, 200, { title, body });
};

/** Draws time, browser and network of the request for a link, compared with this browser. */
function askerOf({ app }: Site, request: FastifyRequest, link: MailedLink): Part {
  const { browser, network, askedAt } = link;
  const isBrowser = browser === browserIn(request);
  const isNetwork = network === siteOf(visitorOf(app, request.raw));
  return html`<dl class="facts">
    <div><dt>Asked</dt><dd>${time(isoTime(askedAt))} UTC</dd></div>
    <div><dt>Browser</dt><dd>${browser}${isBrowser && ', like this one'}</dd></div>
    ${network !== '' && html`<div><dt>Network</dt><dd>${network}${isNetwork && ', the one you are in'}</dd></div>`}
  </dl>`;
}

export const openLink: Door = async (site, request, { token = '' }) => {
  const { app, cookies, workload } = site;
  const form = await readFields(site, request);
  return workload.begin(async () => {
    const waiting = await readMailedLink(app, token);
    if (!form) return late(site, request);
    if (!waiting) {
      await countFailure(app, 'link', await holderOfLink(app, token));
      return late(site, request);
    }
    const own = cookies.read(request, 'svc_console');
    const isHere = own !== null && hashOfToken(own) === waiting.sessionHash;
    const isDeclined = form['decline'] === '1';
    if (isDeclined) return decline(site, token, waiting);
    if (waiting.purpose === 'proof' && !isHere) {
      const text = 'A form waits in another browser. Open the link there: it proves nothing here.';
      return sentence(site, 403, 'Open it where you asked', text);
    }
    const link = await useMailedLink(app, token);
    if (!link) return late(site, request);
    if (link.purpose === 'proof' && own !== null) {
      await recordProof(app, hashOfToken(own), 'link');
      return goesOn(site, 'It is you', '/console/asks-again');
    }
    const { purpose, personId } = link;
    if (purpose !== 'sign-in' && purpose !== 'proof') {
      return sentence(site, 200, 'Done', done[purpose]);
    }
    return signInPerson(site, request, { personId, proof: 'link' });
  });
};

/**
 * Ends a link to sign in or to prove, without a session. Links for different purposes stay valid.
 */
async function decline(site: Site, token: string, { purpose }: MailedLink): Promise<Answer> {
  if (purpose === 'sign-in' || purpose === 'proof') await useMailedLink(site.app, token);
  const text =
    'Nothing was done, and nobody signed in. The link to sign in does not work any more.';
  return sentence(site, 200, 'Thank you', text);
}
