// Who may ask which route (contract 3), written by hand and not derived from the code: one row for
// each route of the API. A route without a row fails the test next door.
import { payload } from '../messages/fixtures.ts';
import type { CallerName, ResourceKind, Side } from './permission-world.ts';

export interface Row {
  /** Those callers who may, and no other. */
  may: readonly CallerName[];
  /** What they get. */
  gives: 200 | 201 | 409;
  /** What `{id}` in the path names; without, the path has none. */
  on?: ResourceKind;
  /** The request uses its resource up: each gets a fresh one. */
  spends?: boolean;
  query?: string;
  /** A body for a caller of the organization; `serial` is another in every request. */
  body?: (own: Side, serial: number) => unknown;
  headers?: (serial: number) => Record<string, string>;
  /** A body that names a resource of another organization, which is a 404. */
  foreignBody?: (foreign: Side) => unknown;
  /** A filter that names something of another organization, and so finds nothing. */
  foreignQuery?: (foreign: Side) => string;
}

const all = ['owner', 'admin', 'developer'] as const;

const sends: readonly CallerName[] = [...all, 'sender', 'mailer'];
const readsMessages: readonly CallerName[] = [...all, 'sender', 'viewer', 'reader'];
const deletesMessages: readonly CallerName[] = [...all, 'remover'];
/** Domains, senders and blocks. */
const readsDomains: readonly CallerName[] = [...all, 'viewer', 'postmaster'];
const writesDomains: readonly CallerName[] = [...all, 'writer', 'postmaster'];
const deletesDomains: readonly CallerName[] = [...all, 'remover', 'postmaster'];
const readsKeys: readonly CallerName[] = ['owner', 'admin', 'viewer', 'locksmith'];
const writesKeys: readonly CallerName[] = ['owner', 'admin', 'writer', 'locksmith'];
const deletesKeys: readonly CallerName[] = ['owner', 'admin', 'remover', 'locksmith'];
const readsOrganization: readonly CallerName[] = ['owner', 'admin', 'viewer', 'analyst'];
const readsAnalytics: readonly CallerName[] = [...all, 'viewer', 'analyst'];

const messages = '/v1/messages';
const domains = '/v1/email/domains';
const senders = '/v1/email/senders';
const blocks = '/v1/email/blocks';
const keys = '/v1/api-keys';

function scheduled(email: Record<string, unknown>, serial: number) {
  const scheduledFor = '2026-02-01T00:00:00Z';
  return payload(email, { scheduledFor, idempotencyKey: `later ${serial}` });
}

export const rows: Readonly<Record<string, Row>> = {
  [`POST ${messages}`]: {
    may: sends,
    gives: 201,
    body: () => payload(),
    foreignBody: ({ shared }) => payload({ inReplyToMessageId: shared.message }),
  },
  [`POST ${messages}/batch`]: { may: sends, gives: 200, body: () => [payload()] },
  [`POST ${messages}/scheduled`]: {
    may: sends,
    gives: 201,
    body: (_own, serial) => scheduled({}, serial),
    foreignBody: ({ shared }) => scheduled({ inReplyToMessageId: shared.message }, 0),
  },
  [`POST ${messages}/{id}/cancel`]: { may: sends, gives: 200, on: 'message', spends: true },
  [`GET ${messages}`]: { may: readsMessages, gives: 200, query: '?limit=100' },
  [`GET ${messages}/{id}`]: { may: readsMessages, gives: 200, on: 'message' },
  [`GET ${messages}/{id}/email`]: { may: readsMessages, gives: 200, on: 'message' },
  [`GET ${messages}/{id}/events`]: { may: readsMessages, gives: 200, on: 'message' },
  [`GET ${messages}/{id}/deliveries`]: { may: readsMessages, gives: 200, on: 'message' },
  [`DELETE ${messages}/{id}`]: { may: deletesMessages, gives: 200, on: 'message', spends: true },

  [`GET ${domains}`]: { may: readsDomains, gives: 200, query: '?limit=100' },
  [`POST ${domains}`]: {
    may: writesDomains,
    gives: 201,
    body: (_own, serial) => ({ domain: `made${serial}.example`, dkim: 'ed25519' }),
  },
  [`GET ${domains}/{id}`]: { may: readsDomains, gives: 200, on: 'domain' },
  [`GET ${domains}/{id}/dns-records`]: { may: readsDomains, gives: 200, on: 'domain' },
  [`GET ${domains}/{id}/dmarc-reports`]: { may: readsDomains, gives: 200, on: 'domain' },
  [`POST ${domains}/{id}/verify`]: { may: writesDomains, gives: 200, on: 'domain' },
  [`POST ${domains}/{id}/dkim/rotate`]: { may: writesDomains, gives: 200, on: 'domain' },
  [`DELETE ${domains}/{id}`]: { may: deletesDomains, gives: 200, on: 'domain', spends: true },

  [`GET ${senders}`]: { may: readsDomains, gives: 200, query: '?limit=100' },
  [`POST ${senders}`]: {
    may: writesDomains,
    gives: 201,
    body: (_own, serial) => ({ email: `made${serial}@own.example` }),
  },
  [`GET ${senders}/{id}`]: { may: readsDomains, gives: 200, on: 'sender' },
  [`PATCH ${senders}/{id}`]: {
    may: writesDomains,
    gives: 200,
    on: 'sender',
    body: () => ({ name: 'renamed' }),
  },
  [`DELETE ${senders}/{id}`]: { may: deletesDomains, gives: 200, on: 'sender', spends: true },

  [`GET ${blocks}`]: {
    may: readsDomains,
    gives: 200,
    query: '?limit=100',
    foreignQuery: ({ blockedAddress }) => `?address=${blockedAddress}`,
  },
  [`POST ${blocks}`]: {
    may: writesDomains,
    gives: 201,
    body: (_own, serial) => ({ address: `made${serial}@blocked.example` }),
  },
  [`GET ${blocks}/{id}`]: { may: readsDomains, gives: 200, on: 'block' },
  [`DELETE ${blocks}/{id}`]: { may: deletesDomains, gives: 200, on: 'block', spends: true },

  [`GET ${keys}`]: { may: readsKeys, gives: 200, query: '?limit=100' },
  [`POST ${keys}`]: {
    may: writesKeys,
    gives: 201,
    body: () => ({ permissions: { keys: ['write'] } }),
  },
  [`GET ${keys}/{id}`]: { may: readsKeys, gives: 200, on: 'writeKey' },
  [`PATCH ${keys}/{id}`]: {
    may: writesKeys,
    gives: 200,
    on: 'writeKey',
    body: () => ({ name: 'renamed' }),
  },
  [`POST ${keys}/{id}/rotate`]: { may: writesKeys, gives: 200, on: 'writeKey', spends: true },
  [`DELETE ${keys}/{id}`]: { may: deletesKeys, gives: 200, on: 'deleteKey', spends: true },

  'GET /v1/organizations/current': { may: readsOrganization, gives: 200 },
  // Not a writer: by its role (specification 5.6). 409, for nothing was rejected.
  'POST /v1/organizations/onboarding/reapply': {
    may: ['owner', 'admin'],
    gives: 409,
    body: () => ({ expectedGeneration: 1 }),
  },
  'GET /v1/audit': {
    may: readsOrganization,
    gives: 200,
    query: '?limit=100',
    foreignQuery: ({ shared }) => `?resource=${shared.block}`,
  },
  'GET /v1/organizations/usage': { may: readsOrganization, gives: 200 },
  'GET /v1/analytics/channel-stats': { may: readsAnalytics, gives: 200 },
  'GET /v1/analytics/timeseries': { may: readsAnalytics, gives: 200 },
  'GET /v1/analytics/domains': { may: readsAnalytics, gives: 200 },
};
