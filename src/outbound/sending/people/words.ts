// Phrases that mails to persons share, and refusals of such mails.
import type { App } from '../../../core/app.ts';
import { RateLimitedError, ValidationError } from '../../../platform/errors.ts';
import { siteOf } from '../../../platform/net/network-address.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';

/** A visitor in a browser. */
export interface Asker {
  /** Words for the browser, such as "Firefox on Windows". */
  browser: string;
  /** IP address of the visitor; empty for a command. */
  address: string;
}

/** Names the browser, the network and the time of a request. */
export function askerWords(app: App, { browser, address }: Asker): string {
  const time = isoTime(app.clock.now()).slice(0, 16).replace('T', ' ');
  const from = address === '' ? '' : `, network ${siteOf(address)}`;
  return `${browser}${from}, ${time} UTC`;
}

/** Returns the host of the public URL, with a port unless it is the default. */
export function hostOf(app: App): string {
  return new URL(app.publicUrl.current).host;
}

const mostCharacters = 60;
const mostOfOrganization = 36;

/** Puts text of users on a single line, without the characters that make links or addresses. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .replaceAll(/[./\\@。\u2024\u2044\u2215:]/gu, '')
    .trim();
}

function cut(text: string, most: number): string {
  const characters = [...text];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}

/** Returns the names of organization and inviter for a mail, together at most 60 characters. */
export function invitingNames(
  organization: string,
  inviter: string,
): { organization: string; inviter: string } {
  const shown = cut(plain(organization), mostOfOrganization);
  return { organization: shown, inviter: cut(plain(inviter), mostCharacters - [...shown].length) };
}

/** Returns the error for an address that may get no mail with a token. */
export function refusedEmail(reason: string): ValidationError {
  return ValidationError.of(
    'email',
    `${reason}: invite without a mail (mail: false, --no-mail) and hand the way in over yourself`,
  );
}

/**
 * Returns the error after five mails to an address in a day. `waitMs`: time until the next mail.
 */
export function tooManyMails(email: string, waitMs: number): RateLimitedError {
  return new RateLimitedError(`5 mails to ${email} within a day`, Math.ceil(waitMs / 1000));
}
