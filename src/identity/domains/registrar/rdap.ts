// Asks an RDAP server for the registrar of a domain (RFC 9082, 9083). Does not trust the server:
// reads at most 64 KB, waits 5 s, and follows three redirects to public addresses only.
import type { App } from '../../../core/app.ts';
import { getFromStranger, type Patience } from '../../../platform/net/http/client.ts';

/** Registrar of a domain. The IANA number and the URL are null if the answer lacks them. */
export interface Registration {
  name: string;
  ianaId: string | null;
  url: string | null;
}

const mostRedirects = 3;
const longestName = 200;
const mostEntities = 50;

/**
 * Returns the registrar of a domain. Null if the server does not know the domain, or names no
 * registrar. @throws Error with the obstacle in words
 */
export async function askRegistrar(
  app: App,
  server: string,
  domain: string,
  patience: Patience,
): Promise<Registration | null> {
  const endAt = app.clock.elapsed() + patience.totalMs;
  let url = new URL(`domain/${domain}`, server);
  for (let hop = 0; hop <= mostRedirects; hop++) {
    const totalMs = Math.max(1, endAt - app.clock.elapsed());
    const bounds = { connectMs: patience.connectMs, totalMs };
    const answer = await getFromStranger(app, url, 'application/rdap+json', bounds);
    if (answer.statusCode === 404) return null;
    if (answer.statusCode === 200) return readRegistration(JSON.parse(answer.text));
    const location = answer.header('location');
    if (![301, 302, 303, 307, 308].includes(answer.statusCode) || location === null) {
      throw new Error(`${url.hostname} answered with status ${answer.statusCode}`);
    }
    if (!URL.canParse(location, url.href)) throw new Error(`${url.hostname} redirects nowhere`);
    url = new URL(location, url);
  }
  throw new Error(`${server} redirects more than ${mostRedirects} times`);
}

type Loose = { readonly [key: string]: unknown } | null | undefined;

function listOf(value: unknown): Loose[] {
  return Array.isArray(value) ? (value.slice(0, mostEntities) as Loose[]) : [];
}

/** Reads the entity with the role of a registrar (RFC 9083 5.1). */
function readRegistration(answer: Loose): Registration | null {
  const registrar = listOf(answer?.entities).find((entity) =>
    (listOf(entity?.roles) as unknown[]).includes('registrar'),
  );
  const name = plain(nameOf(registrar) ?? registrar?.handle);
  if (!registrar || name === null) return null;
  const iana = listOf(registrar.publicIds).find((id) => /iana/i.test(String(id?.type)));
  const links = listOf(registrar.links);
  const about = links.find((link) => link?.rel === 'about') ?? null;
  return { name, ianaId: plain(iana?.identifier), url: webUrl(about?.href ?? registrar.url) };
}

/** Returns the full name in the vCard (RFC 7095) of an entity; undefined without a name. */
function nameOf(entity: Loose): unknown {
  const [, fields] = listOf(entity?.vcardArray) as unknown[];
  const named = (listOf(fields) as unknown[]).find(
    (field) => Array.isArray(field) && field[0] === 'fn',
  );
  return Array.isArray(named) ? named[3] : undefined;
}

/** Cuts a text to 200 characters without control characters; null if empty or not a text. */
function plain(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return text.slice(0, longestName) || null;
}

function webUrl(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > longestName || !URL.canParse(value)) return null;
  const url = new URL(value);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null;
}
