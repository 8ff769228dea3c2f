// Mails links to sign in. A visitor is answered before the address is looked up, so neither the
// answer nor the time of it shows whether the address is known. Requests wait in memory.
//
//   the address                                             | then
//   --------------------------------------------------------+--------
//   of nobody, or of a person without an active membership  | nothing
//   of a person who did not sign in for 90 days             | nothing
//   that gets no token (token-recipients.ts)                | nothing
//   with three links that still work, or at a limit         | nothing
//   any other                                               | a mail

import { normalAddress } from '../../../access/members/address.ts';
import { placesOf } from '../../../access/members/persons.ts';
import { findPersonByEmail, type PersonRow } from '../../../access/members/queries.ts';
import { knownBrowser } from '../../../access/sessions/known-browsers.ts';
import { countOpenLinks, setLinkMail } from '../../../access/sessions/link-queries.ts';
import { countMail, invitationLimits, signInLimits } from '../../../access/sessions/mail-limits.ts';
import { makeMailedLink } from '../../../access/sessions/mailed-links.ts';
import type { App } from '../../../core/app.ts';
import { linkPath } from '../../../core/link-pages/person-links.ts';
import { MinuteCounts } from '../../../platform/runtime/mail-log.ts';
import { perApp } from '../../../platform/runtime/per-app.ts';
import { hashOfToken } from '../../../platform/runtime/tokens.ts';
import type { Db } from '../../../platform/store/db.ts';
import type { ServiceWords } from '../service-mail.ts';
import { mailAsService, unlessRefused } from './mail-as-service.ts';
import { refusedToken } from './token-recipients.ts';
import { type Asker, askerWords, hostOf, refusedEmail, tooManyMails } from './words.ts';

const mostOpen = 3;
const mostWaiting = 1_000;
const awayMs = 90 * 24 * 3_600_000;

/** A request for a link to sign in. */
export interface LinkRequest extends Asker {
  /** The address as it was typed. */
  email: string;
  /** Token of the long-lived cookie of the browser (known-browsers.ts). */
  browserToken: string | null;
  /** Token of an open session that needs a proof; without it the link signs in. */
  sessionToken?: string;
}

/** Ways in which a request for a link ends, as the log counts them. */
type Outcome = 'mailed' | 'unknown' | 'away' | 'open' | 'limit' | 'refused' | 'dropped';

/** Requests of a daemon that wait, and counts for the log. */
class Waiting {
  readonly #app: App;
  readonly #requests: LinkRequest[] = [];
  readonly #counts: MinuteCounts<Outcome>;
  #work: Promise<void> | null = null;

  constructor(app: App) {
    this.#app = app;
    this.#counts = new MinuteCounts(app, 'links to sign in were asked for');
  }

  add(request: LinkRequest): void {
    if (this.#requests.length < mostWaiting) {
      this.#requests.push(request);
      this.#work ??= this.#go();
    } else {
      this.#count('dropped');
    }
  }

  /** Resolves once no request waits or is being handled. */
  async idle(): Promise<void> {
    while (this.#work !== null) await this.#work;
  }

  async #go(): Promise<void> {
    // Lets the daemon send the answer to the visitor first.
    await new Promise((resolve) => setImmediate(resolve));
    for (let next = this.#requests.shift(); next; next = this.#requests.shift()) {
      try {
        this.#count(await mailLink(this.#app, next));
      } catch (error) {
        this.#app.log.error({ err: error }, 'a link to sign in could not be mailed');
      }
    }
    this.#work = null;
  }

  /** Counts an outcome. No line of the log names an address. */
  #count(outcome: Outcome): void {
    this.#app.metrics.signInLinks.inc({ outcome });
    this.#counts.add(outcome);
  }
}

const waitingOf = perApp((app: App) => new Waiting(app));

/** Queues a request for a link in memory. The table at the head tells when a mail follows. */
export function askForLink(app: App, request: LinkRequest): void {
  waitingOf(app).add(request);
}

/** Resolves once all requests for links are handled; the mails are then in the queue. */
export function linksAreMade(app: App): Promise<void> {
  return waitingOf(app).idle();
}

async function mailLink(app: App, request: LinkRequest): Promise<Outcome> {
  const email = normalAddress(request.email);
  if (email === null || !app.config.console.signIn.link) return 'unknown';
  const mailed = app.store.write(async (trx) => {
    const person = await findPersonByEmail(trx, email);
    return person ? mailKnown(app, trx, person, request) : 'unknown';
  });
  return (await unlessRefused(app, 'a link to sign in', mailed)) ?? 'refused';
}

async function mailKnown(
  app: App,
  trx: Db,
  person: PersonRow,
  request: LinkRequest,
): Promise<Outcome> {
  const { id: personId, email } = person;
  const now = app.clock.now();
  const places = (await placesOf(trx, personId)).filter(({ status }) => status === 'active');
  if (places.length === 0) return 'unknown';
  if (now - (person.last_signed_in_at ?? person.created_at) > awayMs) return 'away';
  const organizationIds = places.map((place) => place.organization_id);
  if (await refusedToken(app, trx, email, organizationIds)) return 'refused';
  if ((await countOpenLinks(trx, personId, now)) >= mostOpen) return 'open';
  const { address, browserToken } = request;
  const browserHash = await knownBrowser(trx, personId, browserToken);
  const limits = signInLimits({ email, address, browserHash });
  if ((await countMail(trx, limits, now)) !== null) return 'limit';
  await mailLinkTo(app, trx, person, request);
  return 'mailed';
}

/** Mails a link to a person. @throws the refusal of the mail */
async function mailLinkTo(
  app: App,
  trx: Db,
  { id: personId, email }: PersonRow,
  { browser, address, sessionToken }: Omit<LinkRequest, 'email' | 'browserToken'>,
): Promise<void> {
  const purpose = sessionToken === undefined ? 'sign-in' : 'proof';
  const sessionHash = sessionToken === undefined ? null : hashOfToken(sessionToken);
  const asked = { personId, purpose, email, browser, address, sessionHash } as const;
  const { hash } = await makeMailedLink(app, trx, asked, true);
  const words = wordsOf(app, purpose, email, askerWords(app, { browser, address }));
  const mail = { to: email, words, path: linkPath, isShort: true } as const;
  await setLinkMail(trx, hash, await mailAsService(app, trx, mail));
}

function wordsOf(
  app: App,
  purpose: 'sign-in' | 'proof',
  email: string,
  asker: string,
): ServiceWords {
  const isProof = purpose === 'proof';
  return {
    subject: isProof ? `Is it you at ${hostOf(app)}?` : `Sign in at ${hostOf(app)}`,
    opening: isProof
      ? `A change in the account ${email} waits for your answer. It was asked for here: ${asker}.`
      : `Somebody asked for a link that signs in as ${email}: ${asker}.`,
    purpose: isProof ? 'show that it is you' : 'sign in',
    button: isProof ? 'It is me' : 'Sign in',
    closing:
      'The link works once, for 15 minutes. If you did not ask for it, do nothing: nobody else can use it.',
  };
}

/**
 * Mails a link to a person after 90 days without a sign-in, because an owner asks for it.
 * @throws ValidationError on `email` for an address that gets no token; the refusal of the mail
 */
export async function mailReturn(
  app: App,
  trx: Db,
  person: PersonRow,
  organizationId: string,
): Promise<void> {
  const refused = await refusedToken(app, trx, person.email, [organizationId]);
  if (refused) throw refusedEmail(refused);
  const limit = await countMail(trx, invitationLimits(person.email), app.clock.now());
  if (limit !== null) throw tooManyMails(person.email, limit);
  await mailLinkTo(app, trx, person, { browser: 'an owner of your organization', address: '' });
}
