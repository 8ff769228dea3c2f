// Recipients to whom mail leaves the machine in the present configuration. A relay on loopback (a
// catcher of test mail) counts as this machine.
import type { App } from '../../core/app.ts';
import { createRouter, type Route, type RouteSender } from '../../mail/smtp/route.ts';
import { isLoopbackHost } from '../../platform/net/network-address.ts';
import { perApp } from '../../platform/runtime/per-app.ts';

const routerOf = perApp(({ config: { delivery, smtp, mailboxes } }: App) =>
  createRouter(delivery, smtp.inbound, mailboxes.hostedDomain),
);

function isOutward(route: Route): boolean {
  return route.kind === 'direct' || (route.kind === 'relay' && !isLoopbackHost(route.host));
}

/** Returns the first address to which mail of this sender leaves the machine; else undefined. */
export function firstOutward(
  app: App,
  addresses: readonly string[],
  sender: RouteSender,
): string | undefined {
  const choose = routerOf(app);
  // Passes `true` for `isLocal` without a look-up: a mailbox here changes only the route of
  // captured mail, which stays on the machine in either case.
  return addresses.find((address) => isOutward(choose(address, true, sender)));
}
