// The service for the daemon, every command and every test: the capabilities of app.ts, and the calls from
// lower folders to higher ones. Starts no server and no job.
import { type App, openApp } from './app.ts';
import { mailboxCounter } from './mailbox-actions/activity.ts';
import { storeFirstNamespace } from './mailboxes/namespaces.ts';
import { presentMessageEvents } from './messages/events.ts';
import { threadHooks } from './threads/hooks.ts';
import { findTrackingRecords } from './tracking/custom/dns-records.ts';
import { createWebhookSink } from './webhooks/enqueue.ts';

/** Opens the app like `openApp`, with events to webhook endpoints. @throws the errors of `openApp`. */
export async function openService(...parts: Parameters<typeof openApp>): Promise<App> {
  const app = await openApp(...parts);
  app.eventSinks.push(createWebhookSink(app), mailboxCounter);
  app.presentMessageEvents = presentMessageEvents;
  app.equipOrganization = storeFirstNamespace;
  app.findTrackingRecords = findTrackingRecords;
  app.threads = threadHooks;
  return app;
}
