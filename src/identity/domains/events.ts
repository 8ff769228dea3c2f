// The kinds of events on a domain.
import { eventKind } from '../../history/events/kinds.ts';
import { domainOutput } from './schema.ts';

const dkim = {
  selector: 'svc1',
  algorithm: 'ed25519-sha256' as const,
  publicKey: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
};

const sample = {
  id: 'dom_06dq2k0qz8h3v5m1r9t4w7xy',
  organizationId: 'org_06dq2k0qz8h3v5m1r9t4w7xy',
  domain: 'example.com',
  status: 'verified' as const,
  dkim,
  dkimKeys: [{ ...dkim, published: true }],
  returnPath: 'bounces.example.com',
  dnsRecords: [],
  catchAll: { enabled: false, mailboxId: null },
  sendingStatus: 'enabled' as const,
  heldAt: null,
  holdReason: null,
  verifiedAt: '2026-01-05T12:00:00.000Z',
  lastCheckedAt: '2026-01-05T12:00:00.000Z',
  createdAt: '2026-01-05T11:40:00.000Z',
  updatedAt: '2026-01-05T12:00:00.000Z',
};

export const domainVerified = eventKind({
  type: 'domain.verified',
  summary: 'Mail may be sent from the domain',
  schema: domainOutput,
  sample,
});

export const domainFailing = eventKind({
  type: 'domain.failing',
  summary: 'DNS no longer shows its records; after three days the domain fails',
  schema: domainOutput,
  sample,
});

export const domainFailed = eventKind({
  type: 'domain.failed',
  summary: 'DNS has not shown its records for three days: no mail may be sent from the domain',
  schema: domainOutput,
  sample: { ...sample, status: 'failed' as const },
});

export const domainHeld = eventKind({
  type: 'domain.held',
  summary: 'Mail from the domain is accepted and waits: its own mail reached the limits',
  schema: domainOutput,
  sample: {
    ...sample,
    sendingStatus: 'held' as const,
    heldAt: '2026-02-01T08:30:00.000Z',
    holdReason: '10% of the last 100 messages bounced (limit 5%).',
  },
});

export const domainResumed = eventKind({
  type: 'domain.resumed',
  summary: 'Held mail of the domain leaves again after the review',
  schema: domainOutput,
  sample,
});
