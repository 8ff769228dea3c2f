// Parts of a request by a browser: cookies, query, the path of the next page, the token of a form,
// and the name of the browser in words.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../../src/core/config/config.ts';
import { withoutSigns } from '../../src/platform/runtime/signs.ts';
import type { Form } from './page.ts';

export const root = '/console';
const longestValue = 4_096;
const yearSeconds = 365 * 24 * 3600;

/** Lives of cookies in seconds; null: until the browser closes. */
const lives = {
  /** The token of a session. */
  svc_console: null,
  /** Secret behind the forms of pages without a session. */
  svc_console_form: null,
  /** Token that recognizes a browser in which somebody has signed in before. */
  svc_console_browser: yearSeconds,
  /** State of a sign-in at the provider of single sign-on, until the return. */
  svc_console_flow: 600,
} as const;

export type CookieName = keyof typeof lives;

/**
 * Cookies of the console. They leave the browser with requests of our own pages alone
 * (`SameSite=Strict`), except `svc_console_flow`, which the return from the provider needs. Under
 * https they have the prefix `__Host-`, so no other host can set them.
 */
export class Cookies {
  readonly #isSecure: boolean;

  constructor({ http }: Pick<Config, 'http'>) {
    this.#isSecure = http.publicUrl?.startsWith('https:') ?? false;
  }

  /** Returns the name of the cookie in the header. */
  nameOf(name: CookieName): string {
    return this.#isSecure ? `__Host-${name}` : name;
  }

  /**
   * Returns the value of a cookie; null for an absent or malformed cookie, and for a name that
   * comes twice: an attacker may have set the second cookie.
   */
  read(request: Pick<FastifyRequest, 'headers'>, name: CookieName): string | null {
    const [value, ...more] = this.#valuesOf(request, name);
    if (value === undefined || more.length > 0) return null;
    return /^[\w-]+$/.test(value) && value.length <= longestValue ? value : null;
  }

  /** Tells whether a request has several cookies with the name of the session cookie. */
  isDoubled(request: Pick<FastifyRequest, 'headers'>): boolean {
    return this.#valuesOf(request, 'svc_console').length > 1;
  }

  #valuesOf({ headers }: Pick<FastifyRequest, 'headers'>, name: CookieName): string[] {
    const sent = this.nameOf(name);
    return (headers.cookie ?? '')
      .split(/; */)
      .map((pair) => pair.split('='))
      .filter(([given]) => given === sent)
      .map(([, value = '']) => value);
  }

  /** Returns the `Set-Cookie` value that sets a cookie; an empty value deletes the cookie. */
  write(name: CookieName, value: string): string {
    const life = value === '' ? 0 : lives[name];
    const ends = life === null ? '' : `; Max-Age=${life}`;
    const scope = this.#isSecure ? 'Path=/; Secure' : `Path=${root}`;
    const site = name === 'svc_console_flow' ? 'Lax' : 'Strict';
    return `${this.nameOf(name)}=${value}; ${scope}; HttpOnly; SameSite=${site}${ends}`;
  }
}

/** Returns the values of a query. Of a repeated name the last value counts. */
export function meantIn(query: unknown): Form {
  const given = Object.entries(query as Record<string, string | string[]>);
  return Object.fromEntries(
    given.map(([name, value]) => [name, withoutSigns([value].flat().at(-1) ?? '')]),
  );
}

export function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * Returns the path of the next page: the given path as a browser reads it, if that lies under
 * `/console`; else the first page.
 */
export function nextPath(given = ''): string {
  const base = 'http://console.invalid';
  if (!given.startsWith('/') || !URL.canParse(given, base)) return root;
  const { origin, pathname, search } = new URL(given, base);
  const isOurs = origin === base && (pathname === root || pathname.startsWith(`${root}/`));
  return isOurs && !pathname.includes('//') ? pathname + search : root;
}

/** Returns the token for forms, derived from a secret of the browser. `of` names the forms. */
export function formTokenOf(secret: string, of = 'form'): string {
  return createHmac('sha256', secret).update(of).digest('base64url');
}

/** Returns the token for forms of a session. It begins with the organization's id. */
export function sessionFormToken(token: string, organizationId: string): string {
  return `${organizationId}.${formTokenOf(token, `form of ${organizationId}`)}`;
}

/** Returns the organization of a form token; null unless `given` was made for this session. */
export function organizationOfForm(token: string, given = ''): string | null {
  const [organizationId = ''] = given.split('.');
  return isSame(given, sessionFormToken(token, organizationId)) ? organizationId : null;
}

export function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const browsers = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'] as const;
const browserNames: Partial<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' };
const systems = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS', 'Mac'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const;

/**
 * Returns the browser in words, such as "Firefox on Windows", as the User-Agent header names it.
 */
export function browserIn({ headers }: Pick<FastifyRequest, 'headers'>): string {
  const agent = headers['user-agent'] ?? '';
  const name = browsers.find((one) => agent.includes(`${one}/`));
  const system = systems.find(([word]) => agent.includes(word))?.[1];
  if (name === undefined) return system ? `A browser on ${system}` : 'An unknown browser';
  return `${browserNames[name] ?? name} on ${system ?? 'an unknown system'}`;
}
