// The service as the daemon, every command and every test open it: the capabilities of app.ts, and what
// a room below is told to call of a room above it. Starts nothing that listens or runs.
import { type App, openApp } from './app.ts';
import { mailboxCounter } from './mailbox-actions/activity.ts';
import { storeFirstNamespace } from './mailboxes/namespaces.ts';
import { presentMessageEvents } from './messages/events.ts';
import { threadHooks } from './threads/hooks.ts';
import { findTrackingRecords } from './tracking/custom/dns-records.ts';
import { createWebhookSink } from './webhooks/enqueue.ts';

/** As `openApp`, whose events reach webhook endpoints. @throws what `openApp` does. */
export async function openService(...parts: Parameters<typeof openApp>): Promise<App> {
  const app = await openApp(...parts);
  app.eventSinks.push(createWebhookSink(app), mailboxCounter);
  app.presentMessageEvents = presentMessageEvents;
  app.equipOrganization = storeFirstNamespace;
  app.findTrackingRecords = findTrackingRecords;
  app.threads = threadHooks;
  return app;
}
