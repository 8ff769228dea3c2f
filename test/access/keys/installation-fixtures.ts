// Keys of installations, without the installations themselves.
import { createAuthenticator } from '../../../src/access/keys/authenticator.ts';
import { keysChanged } from '../../../src/access/keys/changes.ts';
import {
  changeInstallationKey,
  type InstallationRights,
  makeInstallationKey,
  switchInstallationKey,
} from '../../../src/access/keys/installation-keys.ts';
import { permissionMapOf } from '../../../src/access/keys/roles.ts';
import type { Permission } from '../../../src/core/api/permission.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { TestApp } from '../../support/test-app.ts';

export type Wanted = Partial<Omit<InstallationRights, 'permissions'>> & {
  permissions: readonly Permission[];
};

/** A key of an installation that does not exist. */
export interface Installed {
  /** Id of the installation. */
  id: string;
  keyId: string;
  plaintext: string;
}

export function rightsOf({ permissions, ...more }: Wanted): InstallationRights {
  return {
    ...{ permissions: permissionMapOf(permissions), constraints: null, sendMode: 'send' },
    ...{ events: [], ...more },
  };
}

/** Makes the key of an installation named Triage, as `by` would install it. */
export async function installed(
  { app, operator }: TestApp,
  wanted: Wanted,
  by: Caller = operator,
): Promise<Installed> {
  const id = app.newId({ prefix: 'exti' });
  const input = { installationId: id, name: 'Triage', ...rightsOf(wanted) };
  const made = await app.store.write((trx) => makeInstallationKey(app, trx, by, input));
  return { id, keyId: made.id, plaintext: made.plaintext };
}

/** Switches the key off or on, as disabling and enabling an installation do. */
export async function switchTo(
  { app, operator }: TestApp,
  { keyId }: Installed,
  isActive: boolean,
) {
  const { organizationId } = operator;
  await app.store.write((trx) => switchInstallationKey(trx, organizationId, keyId, isActive));
  keysChanged(app);
}

/** Gives the key other rights, as an upgrade does. */
export async function grant({ app, operator }: TestApp, { keyId }: Installed, wanted: Wanted) {
  const rights = rightsOf(wanted);
  const { organizationId } = operator;
  await app.store.write((trx) => changeInstallationKey(trx, organizationId, keyId, rights));
  keysChanged(app);
}

/** Returns the caller of a key; null for an invalid one. */
export function callerOf({ app }: TestApp, { plaintext }: Installed): Promise<Caller | null> {
  return createAuthenticator(app).authenticate(plaintext);
}
