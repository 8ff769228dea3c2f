// The service for the daemon, every command and every test: the capabilities of app.ts, with the calls from
// lower folders to higher ones. Starts no server and no job.
import { type App, type AppOverrides, type Hooks, openApp } from './app.ts';
import type { Config } from './config/config.ts';
import { mailboxCounter } from './mailbox-actions/activity.ts';
import { storeFirstNamespace } from './mailboxes/namespaces.ts';
import { presentMessageEvents } from './messages/events.ts';
import type { Logger } from './runtime/log.ts';
import { threadHooks } from './threads/hooks.ts';
import { findTrackingRecords } from './tracking/custom/dns-records.ts';
import { webhookSink } from './webhooks/enqueue.ts';

export const hooks: Hooks = {
  eventSinks: [webhookSink, mailboxCounter],
  presentMessageEvents,
  findTrackingRecords,
  equipOrganization: storeFirstNamespace,
  threads: threadHooks,
};

/** Opens the app with the hooks of the service. @throws the errors of `openApp`. */
export function openService(config: Config, log: Logger, overrides?: AppOverrides): Promise<App> {
  return openApp(config, log, hooks, overrides);
}
