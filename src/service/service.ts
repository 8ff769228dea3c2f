// The service for the daemon, every command and every test: the app of app.ts, with hooks by which
// lower folders call higher folders. Starts no server and no job.
import { standingMembers } from '../access/members/persons.ts';
import { endPasskeys } from '../access/passkeys/passkeys.ts';
import { personsWithPasskey } from '../access/passkeys/queries.ts';
import { endLinksOfPerson } from '../access/sessions/mailed-links.ts';
import { endPlace, endSessionsOfPerson } from '../access/sessions/sessions.ts';
import { findKnownCampaigns } from '../campaigns/setup/queries.ts';
import { type App, type AppOverrides, type Hooks, openApp } from '../core/app.ts';
import type { Config } from '../core/config/config.ts';
import { markFailing } from '../extensions/standing.ts';
import { checkSecret } from '../identity/domains/signing-keys.ts';
import { findAddressHolder } from '../identity/mailboxes/addresses.ts';
import { findNamespaceOf } from '../identity/mailboxes/bound-keys.ts';
import { releaseCatchAlls } from '../identity/mailboxes/catch-all.ts';
import { releaseAddresses } from '../identity/mailboxes/mailboxes.ts';
import { storeFirstNamespace } from '../identity/mailboxes/namespaces.ts';
import { releaseProofs } from '../identity/senders/proof.ts';
import { mailboxCounter } from '../inbox/approvals/activity.ts';
import { mailboxesOfMail, threadHooks } from '../inbox/threads/thread-hooks.ts';
import { readPostedMails } from '../outbound/messages/contents/posted-mail.ts';
import { presentMessageEvents } from '../outbound/messages/events.ts';
import { findLostMails } from '../outbound/messages/lost-mails.ts';
import { mailInvitation } from '../outbound/sending/people/invitation.ts';
import { mailReturn } from '../outbound/sending/people/sign-in.ts';
import { warnPerson } from '../outbound/sending/people/warnings.ts';
import { askForProof } from '../outbound/sending/sender-proof/prove.ts';
import { findTrackingRecords } from '../outbound/tracking/custom/dns-records.ts';
import { releaseHosts } from '../outbound/tracking/custom/hosts.ts';
import type { Logger } from '../platform/runtime/log.ts';
import { findNames } from '../search/names.ts';
import { webhookSink } from '../webhooks/deliveries/enqueue.ts';

export const hooks: Hooks = {
  eventSinks: [webhookSink, mailboxCounter],
  presentMessageEvents,
  findTrackingRecords,
  nameReleases: [releaseAddresses, releaseCatchAlls, releaseProofs, releaseHosts],
  equipOrganization: storeFirstNamespace,
  threads: threadHooks,
  mailboxesOfMail,
  findKnownCampaigns,
  findNames,
  askForProof,
  findLostMails,
  findAddressHolder,
  findNamespaceOf,
  readPostedMails,
  endpointDisabled: markFailing,
  mailInvitation,
  standingMembers,
  mailReturn,
  personsWithPasskey,
  endPlace,
  personEnds: [endSessionsOfPerson, endLinksOfPerson, endPasskeys],
  warnPerson,
};

/**
 * Opens the copy of a store for a rehearsal: events of the copy go to no webhook.
 * @throws the errors of `openApp`
 */
export function openRehearsal(config: Config, log: Logger, overrides: AppOverrides): Promise<App> {
  const eventSinks = hooks.eventSinks.filter((sink) => sink !== webhookSink);
  return openApp(config, log, { ...hooks, eventSinks }, overrides);
}

/**
 * Opens the app with the hooks of the service.
 * @throws the errors of `openApp`; UnreachableError if the secret does not belong to the store
 */
export async function openService(
  config: Config,
  log: Logger,
  overrides?: AppOverrides,
): Promise<App> {
  const app = await openApp(config, log, hooks, overrides);
  try {
    // The check may record the first key, which a command that only reads must not do.
    if (overrides?.readsEarlier !== true) await checkSecret(app);
    return app;
  } catch (error) {
    await app.close();
    throw error;
  }
}
