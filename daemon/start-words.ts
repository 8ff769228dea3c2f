// The text at the end of a start: where the configuration sends mail, and the URL of the API
// reference.
import type { Config } from '../src/core/config/config.ts';

/** Describes where mail to external recipients goes. */
function whereMailGoes({ mode, relay, allow, routes }: Config['delivery']): string {
  const but = routes.length > 0 ? '; delivery.routes makes exceptions' : '';
  if (mode === 'capture') {
    return routes.length > 0
      ? `Mail is captured, and stays on this machine (delivery.mode is capture)${but}`
      : 'No mail leaves this machine: it is captured (delivery.mode is capture)';
  }
  const way = mode === 'relay' ? `through ${relay.host}` : "straight to the recipients' servers";
  const who =
    allow.length > 0
      ? '; only recipients named in delivery.allow get it, the rest is captured'
      : '';
  return `Mail leaves this machine ${way} (delivery.mode is ${mode})${who}${but}`;
}

/** Returns the start text on a single line; `httpUrl` is the base URL of the API. */
export function startWords({ delivery }: Config, httpUrl: string): string {
  return `${whereMailGoes(delivery)}. The API is described at ${httpUrl}/docs`;
}
