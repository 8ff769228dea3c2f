// Attempts the claimed deliveries of a message. Groups them by route (groups.ts), passes the groups
// for the network to the carrier, and reports each outcome. An unexpected fault of ours while mail
// is carried defers the delivery, so that no mail is lost.
import { isDeepStrictEqual } from 'node:util';
import type { App } from '../../../core/app.ts';
import type { ComposeRequest } from '../../../mail/mime/input.ts';
import { loadProviders } from '../../../mail/smtp/load-providers.ts';
import type { Outcome } from '../../../mail/smtp/outcome.ts';
import { classifyReply } from '../../../mail/smtp/reply-rules/classify-reply.ts';
import {
  type ChooseRoute,
  createRouter,
  dependsOnAddress,
  type RouteConfig,
  routeKey,
} from '../../../mail/smtp/route.ts';
import type { DsnRequest } from '../../../mail/smtp/session/transaction.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';
import type { Portion } from '../../../platform/runtime/fairness/portion.ts';
import type { ContentRow } from '../../messages/contents/content-queries.ts';
import type { Attempt } from '../../messages/schema.ts';
import { trackingBase } from '../../tracking/base-url.ts';
import type { Cuts } from '../../tracking/links.ts';
import { readTracked } from '../../tracking/merged-links.ts';
import type { Carrier, Mailing, OpenCarrier } from '../carrier/carrier.ts';
import { type CopiedMessage, copyRequestOf, travelsAlone } from '../carrier/copy.ts';
import { keptPolicies } from '../carrier/kept-policies.ts';
import { withMailedLink } from '../carrier/mailed-link.ts';
import { composeRequestOf, type Signing, signingNow } from '../carrier/request.ts';
import { carryTogether, signingFor } from '../carrier/signatures.ts';
import type { ClaimedMessage, LaneChoice } from '../claiming/claim.ts';
import { isFault, type LaneSignal } from '../lanes/lane.ts';
import { Lanes } from '../lanes/lanes.ts';
import { Shares } from '../lanes/shares.ts';
import { confirmAbsence } from '../settling/absence.ts';
import type { Settlement } from '../settling/settle.ts';
import { captured, type Ending, linkEnded, ourFault, simulate } from './endings.ts';
import { type Group, groupByDestination, isOverNetwork, type NetworkGroup } from './groups.ts';
import { beginOwnTransaction } from './own-transactions.ts';
import { refusalLogger } from './relay-refusals.ts';
import { beginnerOf, marksOf } from './return-path.ts';
import { type Transactions, transactionsOf } from './transactions.ts';

/**
 * Attempts all claimed deliveries of a message. Settles the deliveries of each destination as they
 * end.
 */
export type AttemptMessage = (
  claimed: ClaimedMessage,
  settle: (settlements: Settlement[]) => Promise<void>,
) => Promise<void>;

/** Attempts claimed messages; holds the SMTP connections. */
export interface Attempter {
  attempt: AttemptMessage;
  /** Lanes and shares, which limit and count the attempts. */
  choice: LaneChoice;
  /** Applies the portion of the lane limits that this daemon may use, for `forMs` milliseconds. */
  divide(portion: Portion, forMs: number): void;
  /** Reads the rules of providers again. @throws ConfigError; then the old rules stay in force. */
  reload(): void;
  close(): Promise<void>;
}

/** Parts that all attempts of a daemon share. */
interface Equipment {
  app: App;
  chooseRoute: ChooseRoute;
  carrier: Carrier;
  lanes: Lanes;
  laneOf: LaneChoice['laneOf'];
  logRefusals: ReturnType<typeof refusalLogger>;
}

/** Creates the attempter of a daemon. Mail for local mailboxes goes to `listener`. */
export function createAttempter(
  app: App,
  listener: { host: string; port: number },
  openCarrier: OpenCarrier,
): Attempter {
  const { delivery, mailboxes } = app.config;
  const chooseRoute = createRouter(delivery, listener, mailboxes.hostedDomain);
  const readProviders = () =>
    loadProviders(delivery.providersFile, delivery.maxConnectionsPerDomain);
  const providers = readProviders();
  const lanes = new Lanes(app.clock, app.random, providers);
  const carrier = openCarrier(app, { providers, lanes, policies: keptPolicies(app) });
  const laneOf: LaneChoice['laneOf'] = (email, sender) => {
    const route = chooseRoute(email, true, sender);
    if (route.kind === 'direct') return lanes.ofDomain(route.domain);
    return route.kind === 'relay' || route.kind === 'local' ? routeKey(route) : null;
  };
  const logRefusals = refusalLogger(app);
  const equipment = { app, chooseRoute, carrier, lanes, laneOf, logRefusals };
  const soleLane = soleLaneOf(delivery, lanes, laneOf);
  return {
    attempt: (claimed, settle) => attemptMessage(equipment, claimed, settle),
    choice: {
      lanes,
      shares: new Shares(app.clock),
      laneOf,
      soleLane,
      needsAddress: dependsOnAddress(delivery),
    },
    reload() {
      providers.replace(readProviders().rules);
      lanes.changeRules();
      carrier.changeRules();
    },
    divide(portion, forMs) {
      // Does nothing for an equal portion: most calls only renew it.
      if (!isDeepStrictEqual(portion, providers.portion)) {
        providers.divide(portion);
        lanes.divide();
      }
      carrier.divide(portion, forMs);
    },
    close: () => carrier.close(),
  };
}

async function attemptMessage(
  equipment: Equipment,
  claimed: ClaimedMessage,
  settle: (settlements: Settlement[]) => Promise<void>,
): Promise<void> {
  const { app, chooseRoute } = equipment;
  const { message } = claimed;
  const isSole = message.delivery_count === 1;
  const isTracked = countsEngagement(claimed);
  const groups = await groupByDestination(app, claimed, chooseRoute);
  const manner = mannerOf(app, claimed);
  const transactions = await transactionsOf(app, message, groups);
  const networkGroups = groups.filter(isOverNetwork);
  const carried = carryGroups(equipment, claimed, networkGroups, { ...manner, transactions });
  const signed = manner.signing.catch(() => null);
  const attemptGroup = async (group: Group) => {
    const { route, deliveries } = group;
    const endings = await endingsOf(equipment, group, carried).catch((error: unknown) => {
      app.log.error({ err: error, messageId: message.id }, 'an attempt failed');
      return deliveries.map(() => ourFault(app, route.kind));
    });
    const signing = await signed;
    const record = signing && recordOf(manner, signingFor(route, signing));
    const transaction = transactions.get(group);
    const shared = { isSole, isTracked, fromEmail: message.from_email, composed: record };
    const facts = { ...shared, spread: app.random.float(), ...(transaction && { transaction }) };
    const settlements = deliveries.map((delivery, index) => {
      const ending = endings[index] ?? ourFault(app, route.kind);
      return { delivery, ...facts, ...ending };
    });
    reportToLane(equipment, settlements);
    await settle(settlements);
  };
  await Promise.all(groups.map(attemptGroup));
}

type CarriedGroups = ReadonlyMap<Group, Promise<Outcome[]> | undefined>;

/**
 * Gives all groups that leave over the network to the carrier. Returns the outcomes of each group,
 * in the order of the deliveries.
 */
async function carryGroups(
  { app, carrier }: Equipment,
  claimed: ClaimedMessage,
  groups: readonly NetworkGroup[],
  { signing, linkBase, transactions }: Manner & { transactions: Transactions },
): Promise<CarriedGroups> {
  const { message } = claimed;
  if (groups.length === 0) return new Map();
  const envelopes = await Promise.all(
    groups.map(async (group) => ({
      route: group.route,
      organizationId: message.organization_id,
      ...(await marksOf(app, message, transactions.get(group) ?? null)),
      recipients: group.deliveries.map(({ email }) => email),
      ...(group.route.kind === 'relay' && { dsn: reportsWanted(message.id) }),
    })),
  );
  const { content, cuts } = await contentOf(app, claimed);
  const groupId = claimed.deliveries[0]?.unsubscribe_group_id ?? null;
  const composed = await composeRequestOf(app, { ...claimed, content, groupId }, await signing);
  const copy = await withMailedLink(app, message, composed);
  if (copy === null) {
    const dropped = ({ deliveries }: Group) =>
      Promise.resolve(deliveries.map(() => linkEnded(app)));
    return new Map(groups.map((group) => [group, dropped(group)]));
  }
  const { request, conceal } = copy;
  const carried =
    linkBase === null
      ? carryTogether(carrier, request, envelopes)
      : carryAlone(app, carrier, { message, cuts }, { request, envelopes, groups, linkBase });
  const outcomes = carried.map(async (ended) => (await ended).map(conceal));
  for (const [index, group] of groups.entries()) {
    const transaction = transactions.get(group);
    const ended = outcomes[index];
    if (group.route.kind !== 'local' || !transaction || !ended) continue;
    const recipients = group.deliveries.map(({ email }) => email);
    beginOwnTransaction(app, beginnerOf(transaction), recipients, ended);
  }
  return new Map(groups.map((group, index) => [group, outcomes[index]]));
}

/** Tells whether opens and clicks of a message are counted. */
export function countsEngagement({ message, cuts }: ClaimedMessage): boolean {
  const { campaign_run_id: runId, track_opens, track_clicks } = message;
  return cuts != null || (runId !== null && track_opens + track_clicks > 0);
}

/**
 * Returns the content of a message, with the positions of tracked links. Reads it if it was too
 * large for the claim, and fills it if the message has individual values.
 */
async function contentOf(
  app: App,
  { message, content, cuts = null, values }: ClaimedMessage,
): Promise<{ content: ContentRow | null; cuts: Cuts | null }> {
  const { content_id: id, raw_blob_id: blobId, campaign_run_id: runId } = message;
  const isReady = content !== null && runId === null;
  if (isReady || id === null || blobId !== null) return { content, cuts };
  const read = await readTracked(app, message, { content, cuts, values });
  if (!read.content) throw new Error(`content ${id} of a message is missing`);
  return read;
}

/** Size up to which copies of a message for all recipients may be in memory at once. */
const fewBytes = 262_144;

function bytesOf({ input }: ComposeRequest): number {
  if ('raw' in input) return input.raw.length;
  const { attachments, html } = input;
  return attachments.reduce((sum, { content }) => sum + content.length, html?.length ?? 0);
}

/** The signatures and the base of links that all copies of an attempt share. */
interface Manner {
  signing: Promise<Signing>;
  /** Base of individual links; null for a message without individual links. */
  linkBase: string | null;
}

function mannerOf(app: App, claimed: ClaimedMessage): Manner {
  const { message, deliveries } = claimed;
  const isAlone = travelsAlone(claimed, deliveries[0]);
  return {
    signing: signingNow(app, message),
    linkBase: isAlone ? trackingBase(app, message.sender_domain_id) : null,
  };
}

/** Returns the facts from which a download composes the same bytes again. */
function recordOf(
  { linkBase }: Manner,
  { keys, timestampSeconds }: Signing,
): Pick<Attempt, 'signedWith' | 'linkBase'> {
  const selectors = keys.map(({ selector }) => selector);
  return {
    signedWith: { at: isoTime(timestampSeconds * 1000), selectors },
    ...(linkBase !== null && { linkBase }),
  };
}

/**
 * Carries a copy of the message for each recipient. Copies of a large message are composed and
 * carried in sequence, because fifty at the same time would fill the memory.
 */
function carryAlone(
  app: App,
  carrier: Carrier,
  copied: CopiedMessage,
  {
    request,
    envelopes,
    groups,
    linkBase,
  }: Mailing & { groups: readonly NetworkGroup[]; linkBase: string },
): Promise<Outcome[]>[] {
  const bytes = bytesOf(request);
  let before: Promise<unknown> = Promise.resolve();
  return envelopes.map((envelope, index) => {
    const [delivery] = groups[index]?.deliveries ?? [];
    const carry = async () => {
      const own = delivery
        ? await copyRequestOf(app, copied, request, delivery, linkBase)
        : request;
      const signed = { ...own, ...signingFor(envelope.route, own) };
      const [outcomes] = carrier.carry({ request: signed, envelopes: [envelope] });
      return (await outcomes) ?? [];
    };
    const carried = bytes > fewBytes ? before.then(carry) : carry();
    before = carried.catch(() => {});
    return carried;
  });
}

async function endingsOf(
  { app, logRefusals }: Equipment,
  group: Group,
  carried: Promise<CarriedGroups>,
): Promise<Ending[]> {
  const { route, deliveries } = group;
  if (route.kind === 'simulator') return deliveries.map((delivery) => simulate(app, delivery));
  if (route.kind === 'capture') return deliveries.map(() => captured(app, route));
  const outcomes = (await (await carried).get(group)) ?? [];
  if (route.kind === 'relay') logRefusals(route, outcomes);
  const now = app.clock.now();
  const rest = { sentIsDelivered: route.kind !== 'relay', aftermath: null, routeKind: route.kind };
  return deliveries.flatMap((delivery, index): Ending[] => {
    const outcome = outcomes[index];
    return outcome ? [{ outcome: confirmAbsence(outcome, delivery, now), ...rest }] : [];
  });
}

/**
 * Reports outcomes to the lanes. If several recipients of an SMTP transaction got a rate limit, or
 * no connection, this counts as a single fault.
 */
function reportToLane({ lanes, laneOf }: Equipment, settlements: readonly Settlement[]): void {
  const told = new Set<LaneSignal>();
  for (const { delivery, outcome, fromEmail } of settlements) {
    const sender = { organizationId: delivery.organization_id, email: fromEmail };
    const lane = laneOf(delivery.email, sender);
    if (lane === null) continue;
    const signal = signalOf(outcome);
    if (told.has(signal) && isFault(signal)) lanes.released(delivery.id);
    else lanes.ended(lane, delivery.id, signal, outcome.trace.durationMs);
    told.add(signal);
  }
}

/**
 * Returns the lane of all mail that is not simulated, if there is a single lane: in relay mode
 * without exceptions.
 */
function soleLaneOf(
  { mode, routes, allow }: RouteConfig,
  lanes: Lanes,
  laneOf: LaneChoice['laneOf'],
): LaneChoice['soleLane'] {
  if (mode !== 'relay' || routes.length > 0 || allow.length > 0) return null;
  const anybody = { organizationId: '', email: 'anybody@example.com' };
  const lane = laneOf(anybody.email, anybody);
  return lane === null ? null : { quickRoom: () => lanes.quickRoom(lane) };
}

/**
 * Returns the request for DSNs. A relay that supports DSNs reports the result after it has accepted
 * the mail (RFC 3461).
 */
function reportsWanted(messageId: string): DsnRequest {
  return { envelopeId: messageId, returnContent: 'headers', notify: ['success', 'failure'] };
}

/**
 * Returns the signal of an outcome for the lane. Rate limits and failed connections slow the lane
 * down; any other outcome counts as an answer.
 */
function signalOf(outcome: Outcome): LaneSignal {
  if (outcome.kind === 'sent') return 'taken';
  if (outcome.kind !== 'deferred') return 'refused';
  if (outcome.reply.code !== null && classifyReply(outcome.reply).isRateLimited) return 'slowed';
  return outcome.errorCode === 'connection' ? 'unreachable' : 'refused';
}
