// The kinds of events on installations of extensions.
import { eventKind } from '../history/events/kinds.ts';
import { installationOutput } from './installation-schema.ts';

const sample = {
  id: 'exti_06dq2k0qz8h3v5m1r9t4w7xy',
  organizationId: 'org_06dq2k0qz8h3v5m1r9t4w7xy',
  extensionId: 'ext_06dq2k0qz8h3v5m1r9t4w7xy',
  name: 'triage',
  displayName: 'Triage',
  version: { id: 'exv_06dq2k0qz8h3v5m1r9t4w7xy', version: '1.0.0' },
  runtime: 'webhook' as const,
  status: 'active' as const,
  createdAt: '2026-01-05T12:00:00.000Z',
  events: ['mailbox.message.received'],
  permissions: ['mailboxes:read', 'mailboxes:send', 'mailboxes:write'],
  sendMode: 'approval' as const,
  scope: { mailboxIds: ['mbx_06dq2k0qz8h3v5m1r9t4w7xy'], namespaceId: null },
  updatedAt: '2026-01-05T12:00:00.000Z',
  disabledAt: null,
  keyId: 'key_06dq2k0qz8h3v5m1r9t4w7xy',
  createdBy: { kind: 'user' as const, id: 'key_06dq2k0qz8h3v5m1r9t4w7xy', displayName: 'Ada' },
  webhook: {
    endpointId: 'wep_06dq2k0qz8h3v5m1r9t4w7xy',
    url: 'https://triage.example.com/events',
  },
};

export const extensionInstallationCreated = eventKind({
  type: 'extension.installation.created',
  summary: 'An extension was installed',
  schema: installationOutput,
  sample,
});

export const extensionInstallationUpgraded = eventKind({
  type: 'extension.installation.upgraded',
  summary: 'An installation got another version of its extension',
  schema: installationOutput,
  sample: { ...sample, version: { id: 'exv_06dq2k0qz8h3v5m1r9t4w7xz', version: '1.1.0' } },
});

export const extensionInstallationDisabled = eventKind({
  type: 'extension.installation.disabled',
  summary: 'An installation was disabled or uninstalled: its key and its events have stopped',
  schema: installationOutput,
  sample: { ...sample, status: 'disabled' as const, disabledAt: '2026-01-06T12:00:00.000Z' },
});
