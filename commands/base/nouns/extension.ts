// Shared by the commands of extensions: their arguments, and grants in plain words.
import { Args } from '@oclif/core';
import type { Installed } from '../../../src/extensions/installation-schema.ts';
import type { ExtensionVersion } from '../../../src/extensions/schema.ts';
import { idArg } from '../verbs.ts';

export const extensionArg = idArg('Id of the extension (ext_…)');

export const installationArg = idArg('Id of the installation (exti_…)');

export const versionArgs = {
  ...extensionArg,
  version: Args.string({ description: 'Version, such as 1.4.0, or its id', required: true }),
};

export const extensionCard = [
  ...['id', 'name', 'displayName', 'description', 'runtime', 'isPublic', 'latestVersion.version'],
  ...['createdAt', 'updatedAt'],
];

export const installationCard = [
  ...['id', 'extensionId', 'name', 'displayName', 'version.version', 'runtime', 'status'],
  ...['permissions', 'events', 'sendMode', 'scope.mailboxIds', 'scope.namespaceId'],
  ...['webhook.endpointId', 'webhook.url', 'createdAt', 'updatedAt', 'disabledAt'],
];

/** The card of an installation with new credentials. */
export const credentials = {
  card: ['key', 'webhook.secret', ...installationCard],
  note: 'The key and the secret are never shown again: give them to the extension now.',
} satisfies { card: readonly string[]; note: string };

/** Describes grants in words, each on a line; a grant is `permission:…` or `event:…`. */
export async function grantLines(grants: readonly string[]): Promise<string[]> {
  const { permissionWords } = await import('../../../src/core/api/permission-words.ts');
  const { eventKinds } = await import('../../../daemon/http/event-kinds.ts');
  const words = new Map<string, string>([
    ...Object.entries(permissionWords).map(
      ([name, text]) => [`permission:${name}`, `may ${text}`] as const,
    ),
    ...eventKinds.map(({ type, summary }) => [`event:${type}`, `hears: ${summary}`] as const),
  ]);
  const width = Math.max(0, ...grants.map(({ length }) => length));
  return grants.map((grant) => `  ${grant.padEnd(width)}  ${words.get(grant) ?? ''}`.trimEnd());
}

/** Returns the grants of a version: events first, then permissions. */
export function grantsOf({
  permissions,
  events,
}: Pick<ExtensionVersion | Installed, 'permissions' | 'events'>): string[] {
  return [
    ...events.map((type) => `event:${type}`),
    ...permissions.map((permission) => `permission:${permission}`),
  ];
}
