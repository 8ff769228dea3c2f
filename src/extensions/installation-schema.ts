// Input and output shapes of installations of extensions (specification 2.15, 4.9).
import { z } from 'zod';
import { noun } from '../core/api/noun.ts';
import { cursorPageOf, cursorQuery } from '../core/api/pagination.ts';
import { idOf, timeRange } from '../core/api/resource-schema.ts';
import { sendModes } from '../core/api/route.ts';
import { installationStatuses } from './installation-queries.ts';
import {
  extensionId,
  longestGrant,
  mostGrants,
  namedVersion,
  runtimes,
  versionRef,
} from './schema.ts';

export const installationNoun = noun('extension-installation', 'exti');
export const versionChangeNoun = noun('installation-version-change', 'exvc');

const mostMailboxes = 50;
const longestUrl = 2_000;

const sendMode = z.enum(sendModes).meta({
  description: 'none: it never sends; approval: a person approves its mail; send: it sends at once',
});

const scope = z
  .strictObject({
    mailboxIds: z
      .array(idOf('mailbox', 'is not a mailbox id'))
      .max(mostMailboxes, `must not have more than ${mostMailboxes} entries`)
      .optional()
      .describe('Mailboxes that it reaches'),
    namespaceId: idOf('mailboxNamespace', 'is not a namespace id')
      .nullish()
      .describe('Namespace whose mailboxes it reaches'),
  })
  .refine(({ mailboxIds = [], namespaceId = null }) => mailboxIds.length === 0 || !namespaceId, {
    path: ['namespaceId'],
    message: 'cannot be given together with mailboxIds',
  })
  .meta({ description: 'Mailboxes that it reaches; empty for all' });

const webhookUrl = z
  .string()
  .max(longestUrl)
  .meta({ description: 'URL that its events are posted to; only for the runtime webhook' });

const grants = z
  .array(z.string().max(longestGrant))
  .max(mostGrants, `must not have more than ${mostGrants} entries`);

export const listInstallationsQuery = z.strictObject({
  status: z.enum(installationStatuses).optional().meta({
    description: 'Only installations with this status',
  }),
  extensionId: extensionId.optional().meta({ description: 'Only those of this extension' }),
  ...timeRange('installations made'),
  ...cursorQuery,
});

const exampleGrants = [
  'event:mailbox.message.received',
  'permission:mailboxes:read',
  'permission:mailboxes:send',
  'permission:mailboxes:write',
];

export const installInput = z
  .strictObject({
    extensionId: extensionId.meta({ description: 'The extension to install' }),
    version: namedVersion.nullish().meta({
      description: 'Version, such as 1.4.0, or its id (default: the latest)',
    }),
    sendMode: sendMode.nullish(),
    scope: scope.nullish(),
    webhookUrl: webhookUrl.nullish(),
    acceptPermissions: grants.meta({
      description: 'Exactly the grants of the version: permission:mailboxes:read, event:…',
    }),
  })
  .meta({
    examples: [
      {
        extensionId: 'ext_06dq2k0qz8h3v5m1r9t4w7xy',
        sendMode: 'approval',
        webhookUrl: 'https://triage.example.com/events',
        acceptPermissions: exampleGrants,
      },
    ],
  });

export const updateInstallationInput = z
  .strictObject({
    sendMode: sendMode.optional(),
    scope: scope.nullable().optional(),
    webhookUrl: webhookUrl.optional(),
  })
  .meta({ examples: [{ sendMode: 'send' }] });

export const upgradeInput = z
  .strictObject({
    version: namedVersion.nullish().meta({
      description:
        'Version, such as 1.4.0, or its id (default: the latest); an older one rolls back',
    }),
    acceptPermissions: grants.nullish().meta({
      description: 'Exactly the grants that the version adds; left out: none',
    }),
    dryRun: z.boolean().nullish().meta({ description: 'Show the difference and change nothing' }),
    expectedVersion: namedVersion.nullish().meta({
      description: 'Refuse the upgrade unless this version is installed now',
    }),
  })
  .meta({ examples: [{ version: '1.1.0', acceptPermissions: ['permission:contacts:read'] }] });

const actor = z.object({
  kind: z
    .enum(['user', 'key', 'installation'])
    .describe('Kind of the actor: a person, a key or an installation of an extension'),
  id: z.string().nullable().meta({ description: 'Null for the operator at the command line' }),
  displayName: z.string().nullable().describe('Name of the actor at that time; null without one'),
});

const installation = {
  id: z.string().describe('Id of the installation'),
  organizationId: z.string().describe('Organization of the installation'),
  extensionId: z.string().describe('Installed extension'),
  name: z.string().describe('Name of the extension'),
  displayName: z.string().nullable().describe('Name to show; null without one'),
  version: versionRef.describe('Installed version'),
  runtime: z
    .enum(runtimes)
    .describe('webhook: events are posted to it; hosted: it reads the event stream'),
  status: z.enum(installationStatuses).meta({
    description: 'failing: its webhook was disabled for its failures; enable it once it works',
  }),
  createdAt: z.string().describe('Time of the installation'),
  events: z.array(z.string()).describe('Kinds of events that it may read'),
  permissions: z
    .array(z.string())
    .describe('Permissions that were granted, such as `mailboxes:read`'),
  sendMode: z
    .enum(sendModes)
    .describe('none: it never sends; approval: a person approves its mail; send: it sends at once'),
  scope: z
    .object({
      mailboxIds: z.array(z.string()).describe('Mailboxes by id'),
      namespaceId: z
        .string()
        .nullable()
        .describe('Namespace whose mailboxes it reaches; null without one'),
    })
    .describe('Mailboxes that it reaches; empty: all'),
  updatedAt: z.string().describe('Time of the last change'),
  disabledAt: z
    .string()
    .nullable()
    .describe('Time at which it was disabled; null if it is enabled'),
  keyId: z.string().meta({ description: 'Its key, as the audit names it' }),
  createdBy: actor.describe('Person who installed it'),
};

const webhook = {
  endpointId: z.string().describe('Webhook that gets the events'),
  url: z.string().meta({
    description: 'For readers without `extensions:write` its origin, followed by `/…`',
  }),
};

export const installationOutput = z
  .object({
    ...installation,
    webhook: z
      .object(webhook)
      .nullable()
      .describe('Webhook of the installation; null for the runtime hosted'),
  })
  .meta({ id: 'ExtensionInstallation', description: 'An extension with its grants' });

export const installedOutput = z
  .object({
    ...installation,
    key: z.string().meta({ description: 'Key of the installation: shown only here' }),
    webhook: z
      .object({
        ...webhook,
        secret: z.string().meta({ description: 'Key of the signatures: shown only here' }),
      })
      .nullable()
      .describe('Webhook of the installation; null for the runtime hosted'),
  })
  .meta({
    id: 'InstalledExtension',
    description: 'An installation with its credentials, which no other answer has',
  });

export const installationPage = cursorPageOf(installationOutput);

const permissionDiff = z.object({
  added: z
    .array(z.string())
    .describe('Grants that the new version adds, as `permission:…` and `event:…`'),
  removed: z.array(z.string()).describe('Grants that the new version no longer has'),
});

export const versionChangeOutput = z
  .object({
    id: z.string().describe('Id of the change'),
    organizationId: z.string().describe('Organization of the installation'),
    installationId: z.string().describe('Id of the installation'),
    extensionId: z.string().describe('Id of the extension'),
    fromVersion: versionRef.describe('Version before the change'),
    toVersion: versionRef.describe('Version after the change'),
    permissionDiff: permissionDiff.describe('Grants that changed'),
    changedBy: actor.describe('Person who changed the version'),
    changedAt: z.string().describe('Time of the change'),
  })
  .meta({ id: 'InstallationVersionChange', description: 'An upgrade or a rollback' });

export const versionChangePage = cursorPageOf(versionChangeOutput);

export const listVersionChangesQuery = z.strictObject({
  ...cursorQuery,
  ...timeRange('changes'),
});

export const upgradeOutput = z
  .object({
    installation: installationOutput.describe('The installation, as it is now'),
    fromVersion: versionRef.describe('Version before the change'),
    toVersion: versionRef.describe('Version after the change'),
    permissionDiff: permissionDiff.describe('Grants that change'),
    dryRun: z.boolean().describe('Whether nothing was changed'),
    versionChange: versionChangeOutput.nullable().meta({ description: 'Null in a dry run' }),
  })
  .meta({ id: 'ExtensionUpgrade', description: 'An upgrade, or what one would do' });

export type Installation = z.output<typeof installationOutput>;
export type Installed = z.output<typeof installedOutput>;
export type ListInstallations = z.output<typeof listInstallationsQuery>;
export type Install = z.output<typeof installInput>;
export type UpdateInstallation = z.output<typeof updateInstallationInput>;
export type Upgrade = z.output<typeof upgradeInput>;
export type Upgraded = z.output<typeof upgradeOutput>;
export type VersionChange = z.output<typeof versionChangeOutput>;
export type ListVersionChanges = z.output<typeof listVersionChangesQuery>;
export type Scope = Installation['scope'];
