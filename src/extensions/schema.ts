// Input and output shapes of extensions and their versions (specification 2.15, 4.9). Shapes of
// installations are in installation-schema.ts.
import { z } from 'zod';
import { headerText } from '../core/api/address-schema.ts';
import { noun } from '../core/api/noun.ts';
import { cursorPageOf, cursorQuery } from '../core/api/pagination.ts';
import { everyPermission, type Permission } from '../core/api/permission.ts';
import { idOf, timeRange } from '../core/api/resource-schema.ts';
import { sendModes } from '../core/api/route.ts';
import { eventTypes } from '../history/events/names.ts';

export const extensionNoun = noun('extension', 'ext');
export const versionNoun = noun('extension-version', 'exv');

export const runtimes = ['webhook', 'hosted'] as const;

const longestName = 64;
const longestDescription = 1_000;
const longestChangelog = 10_000;
/** Most characters of a version number. */
const longestVersion = 100;
export const mostGrants = 200;
export const longestGrant = 100;

const name = z
  .string()
  .max(longestName)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters, digits and single hyphens')
  .meta({ description: 'Slug, unique in the organization' });
const displayName = headerText(100).min(1).meta({ description: 'Name, for people' });
const description = z.string().max(longestDescription).meta({ description: 'Its purpose' });
const runtime = z.enum(runtimes).meta({
  description: 'Way of its events: posts to a webhook, or the stream that a program reads',
});

export const listExtensionsQuery = z.strictObject({
  ...timeRange('extensions created'),
  ...cursorQuery,
});

export const createExtensionInput = z
  .strictObject({
    name,
    displayName: displayName.nullish(),
    description: description.nullish(),
    runtime: runtime.default('webhook'),
  })
  .meta({ examples: [{ name: 'triage', displayName: 'Triage', runtime: 'webhook' }] });

export const updateExtensionInput = z
  .strictObject({
    displayName: displayName.nullable().optional(),
    description: description.nullable().optional(),
  })
  .meta({ examples: [{ displayName: 'Triage' }] });

export const versionRef = z.object({
  id: z.string().describe('Id of the version'),
  version: z.string().describe('Number of the version, such as 1.4.0'),
});

export const extensionOutput = z
  .object({
    id: z.string().describe('Id of the extension'),
    organizationId: z
      .string()
      .nullable()
      .meta({ description: 'Null for an extension of another organization' }),
    name: z.string().describe('Unique name of the extension'),
    displayName: z.string().nullable().describe('Name to show; null without one'),
    description: z.string().nullable().describe('Description; null without one'),
    runtime: z
      .enum(runtimes)
      .describe('webhook: events are posted to it; hosted: it reads the event stream'),
    isPublic: z.boolean().meta({ description: 'Whether all organizations may install it' }),
    latestVersion: versionRef.nullable().meta({
      description:
        'The highest version that is no prerelease, or else the last one; null before the first',
    }),
    createdAt: z.string().describe('Time of creation'),
    updatedAt: z.string().describe('Time of the last change'),
  })
  .meta({ id: 'Extension', description: 'A program that organizations can install' });

export const extensionPage = cursorPageOf(extensionOutput);

/**
 * Tells whether an extension may get a permission. Excludes keys, extensions, members, changes of
 * the organization, and the configuration of mailboxes: an extension could widen an installation by
 * them, or reach beyond mail.
 */
function isGrantable(permission: Permission): boolean {
  const [resource, action] = permission.split(':');
  if (resource === 'keys' || resource === 'extensions' || resource === 'members') return false;
  if (resource === 'organization') return action === 'read';
  return permission !== 'mailboxes:configure';
}

/** Compares the names of grants, for sorted lists. */
export function inOrder(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Permissions that a version may ask for, sorted. */
export const grantablePermissions = everyPermission().filter(isGrantable).sort(inOrder);

/** Kinds of events that a version may ask for. A test of a webhook needs no grant. */
export const grantableEvents = eventTypes.filter((type) => type !== 'webhook.test');

/**
 * Schema of a list of `known` grants without repeats. The path of a problem has the index of the
 * entry.
 */
function grantsAmong(known: readonly string[], problem: string) {
  return z
    .array(z.string().max(longestGrant))
    .max(mostGrants, `must not have more than ${mostGrants} entries`)
    .superRefine((entries, context) => {
      const seen = new Set<string>();
      for (const [index, entry] of entries.entries()) {
        const message = seen.has(entry) ? `${entry} is named twice` : problem;
        if (seen.has(entry) || !known.includes(entry)) {
          context.addIssue({ code: 'custom', path: [index], message });
        }
        seen.add(entry);
      }
    });
}

const permissions = grantsAmong(
  grantablePermissions,
  'is not a permission that an extension can have: a resource and an action without wildcards, ' +
    'and none of keys, extensions, organization:write, organization:delete and ' +
    'mailboxes:configure',
).meta({ description: 'Permission that it asks for, such as mailboxes:read' });
const events = grantsAmong(
  grantableEvents,
  'is not a kind of event: `svc webhooks events` lists them, and patterns are not allowed',
).meta({ description: 'Kind of event that it asks for, such as mailbox.message.received' });

export const publishVersionInput = z
  .strictObject({
    version: z
      .string()
      .max(longestVersion)
      .meta({ description: 'Semantic version (SemVer 2.0.0), such as 1.4.0' }),
    permissions,
    events,
    sendModes: z
      .array(z.enum(sendModes))
      .min(1, 'must name at least one')
      .max(sendModes.length)
      .refine((modes) => new Set(modes).size === modes.length, 'names a mode twice')
      .meta({ description: 'Send mode that it can work with: none, approval or send' }),
    runtime: runtime.optional().meta({ description: 'Default: the runtime of the extension' }),
    changelog: z
      .string()
      .max(longestChangelog)
      .nullish()
      .meta({ description: 'What is new in it' }),
  })
  .meta({
    examples: [
      {
        version: '1.0.0',
        permissions: ['mailboxes:read', 'mailboxes:write', 'mailboxes:send'],
        events: ['mailbox.message.received'],
        sendModes: ['approval', 'send'],
      },
    ],
  });

const version = {
  id: z.string().describe('Id of the version'),
  extensionId: z.string().describe('Id of the extension'),
  version: z.string().describe('Number of the version (semver)'),
  permissions: z.array(z.string()).meta({ description: 'Sorted' }),
  events: z.array(z.string()).meta({ description: 'Sorted' }),
  sendModes: z.array(z.enum(sendModes)).describe('Ways of sending that an installation may have'),
  runtime: z
    .enum(runtimes)
    .describe('webhook: events are posted to it; hosted: it reads the event stream'),
  isLatest: z.boolean().meta({ description: 'Whether it is installed without a choice' }),
  withdrawnAt: z.string().nullable().meta({ description: 'Set once it is not offered any more' }),
  createdAt: z.string().describe('Time of the publication'),
};

export const listedVersionOutput = z
  .object(version)
  .meta({ id: 'ListedExtensionVersion', description: 'A version without its changelog' });

export const versionOutput = z
  .object({
    ...version,
    changelog: z.string().nullable().describe('Changes of the version; null without any'),
  })
  .meta({ id: 'ExtensionVersion', description: 'A published version of an extension' });

export const versionPage = cursorPageOf(listedVersionOutput);

export const listVersionsQuery = z.strictObject({
  ...cursorQuery,
  ...timeRange('versions published'),
});

export const extensionId = idOf(extensionNoun, 'is not an extension id');

/** A version in a path or a request: an id or a number. */
export const namedVersion = z
  .string()
  .min(1)
  .max(longestVersion)
  .meta({
    description: 'Version, such as 1.4.0, or its id',
    examples: ['1.4.0'],
  });

export const versionPath = z.strictObject({
  id: extensionId.describe('Id of the extension'),
  version: namedVersion,
});

export type Extension = z.output<typeof extensionOutput>;
export type ListExtensions = z.output<typeof listExtensionsQuery>;
export type CreateExtension = z.output<typeof createExtensionInput>;
export type UpdateExtension = z.output<typeof updateExtensionInput>;
export type ExtensionVersion = z.output<typeof versionOutput>;
export type ListedVersion = z.output<typeof listedVersionOutput>;
export type PublishVersion = z.output<typeof publishVersionInput>;
export type ListVersions = z.output<typeof listVersionsQuery>;
