// Extensions, versions and installations for tests.
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { createExtension } from '../../src/extensions/extensions.ts';
import type { Install, Installed } from '../../src/extensions/installation-schema.ts';
import { install } from '../../src/extensions/installations.ts';
import type { Extension, ExtensionVersion, PublishVersion } from '../../src/extensions/schema.ts';
import { publishVersion } from '../../src/extensions/versions.ts';

let made = 0;

/** Creates an extension that its installations read from the stream, so that they need no URL. */
export function makeExtension(
  app: App,
  caller: Caller,
  more: { name?: string; runtime?: 'webhook' | 'hosted' } = {},
): Promise<Extension> {
  made++;
  return createExtension(app, caller, { name: `ext-${made}`, runtime: 'hosted', ...more });
}

export type Asked = Partial<PublishVersion> & { version: string };

/** Publishes a version that asks for nothing, unless `more` does. */
export function publish(
  app: App,
  caller: Caller,
  extensionId: string,
  more: Asked,
): Promise<ExtensionVersion> {
  const nothing = { permissions: [], events: [], sendModes: ['none', 'approval', 'send'] as const };
  return publishVersion(app, caller, extensionId, {
    ...nothing,
    sendModes: [...nothing.sendModes],
    ...more,
  });
}

/** Returns all grants of a version. */
export function grantsOf({
  permissions,
  events,
}: Pick<ExtensionVersion, 'permissions' | 'events'>): string[] {
  return [
    ...events.map((event) => `event:${event}`),
    ...permissions.map((permission) => `permission:${permission}`),
  ].sort();
}

/** Creates an extension with one version, and installs that with all of its grants. */
export async function makeInstallation(
  app: App,
  caller: Caller,
  asked: Partial<PublishVersion> = {},
  more: Partial<Install> = {},
): Promise<{ extension: Extension; version: ExtensionVersion; installed: Installed }> {
  const runtime = more.webhookUrl ? 'webhook' : 'hosted';
  const extension = await makeExtension(app, caller, { runtime });
  const version = await publish(app, caller, extension.id, { version: '1.0.0', ...asked });
  const acceptPermissions = grantsOf(version);
  const input = { extensionId: extension.id, acceptPermissions, ...more };
  return { extension, version, installed: await install(app, caller, input) };
}
