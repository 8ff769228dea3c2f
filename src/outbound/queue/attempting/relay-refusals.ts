// Logs that a relay refuses our credentials: mail waits until they are corrected, and nothing else
// reports the cause. Writes at most a line for each relay in 15 minutes, without the password.
import { LRUCache } from 'lru-cache';
import type { App } from '../../../core/app.ts';
import type { Outcome } from '../../../mail/smtp/outcome.ts';
import { type RelayRoute, routeKey } from '../../../mail/smtp/route.ts';

const everyMs = 15 * 60_000;
const mostRelays = 100;
const longestReply = 200;

/** Logs refused credentials among the outcomes of an attempt through a relay. */
export type TellRefusals = (route: RelayRoute, outcomes: readonly Outcome[]) => void;

/** Creates the logger of an attempter. It remembers the last line about each relay. */
export function refusalLogger({ clock, log }: Pick<App, 'clock' | 'log'>): TellRefusals {
  /** Time of the last line about a relay, by `clock.elapsed()`. */
  const told = new LRUCache<string, number>({ max: mostRelays });
  return (route, outcomes) => {
    const refused = outcomes.find(isRefusal);
    if (!refused) return;
    const key = routeKey(route);
    const last = told.get(key);
    if (last !== undefined && clock.elapsed() - last < everyMs) return;
    told.set(key, clock.elapsed());
    const { code, text } = refused.reply;
    const { host, port, username } = route;
    const reply = withoutSecrets(text, route).slice(0, longestReply);
    log.warn(
      { relay: `${host}:${port}`, username, code, reply },
      username === null
        ? 'the relay requires a user name and a password: mail waits until they are configured'
        : 'the relay refuses our user name or password: mail waits until they are corrected',
    );
  };
}

function isRefusal(outcome: Outcome): boolean {
  return outcome.kind === 'deferred' && outcome.errorCode === 'auth-failed';
}

/** Removes our password, in plain text and as base64: some servers repeat it in their reply. */
function withoutSecrets(text: string, { username, password }: RelayRoute): string {
  if (password === null) return text;
  const forms = [`\0${username ?? ''}\0${password}`, password].map((secret) =>
    Buffer.from(secret).toString('base64'),
  );
  return [...forms, password].reduce((said, form) => said.replaceAll(form, '[hidden]'), text);
}
