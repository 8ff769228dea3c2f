// Versions of an extension (specification 2.15) with the grants that each version asks for. A
// published version never changes.
//
//   state      moved by   to         also
//   (none)     publish    offered
//   offered    withdraw   withdrawn  not installed and not upgraded to any more; installations keep it

import parse from 'semver/functions/parse.js';
import prerelease from 'semver/functions/prerelease.js';
import rcompare from 'semver/functions/rcompare.js';
import { type CursorPage, cutPage, positionOfId, readCursor } from '../core/api/cursor.ts';
import type { Caller, SendMode } from '../core/api/route.ts';
import type { App } from '../core/app.ts';
import { record } from '../history/events/record.ts';
import { ConflictError, ResourceNotFoundError, ValidationError } from '../platform/errors.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import { type Db, fromJson } from '../platform/store/db.ts';
import { boundsOf } from '../platform/store/rows/time-range.ts';
import { getVisible, lockOwn } from './extensions.ts';
import * as queries from './queries.ts';
import {
  type ExtensionVersion,
  extensionNoun,
  inOrder,
  type ListedVersion,
  type ListVersions,
  type PublishVersion,
  versionNoun,
} from './schema.ts';

const mostVersions = 1_000;

function presentListed(
  row: queries.ListedVersionRow,
  { latest_version_id: latest }: queries.ExtensionRow,
): ListedVersion {
  return {
    id: row.id,
    extensionId: row.extension_id,
    version: row.version,
    permissions: fromJson<string[]>(row.permissions),
    events: fromJson<string[]>(row.events),
    sendModes: fromJson<SendMode[]>(row.send_modes),
    runtime: row.runtime,
    isLatest: row.id === latest,
    withdrawnAt: isoTime(row.withdrawn_at),
    createdAt: isoTime(row.created_at),
  };
}

function present(row: queries.VersionRow, extension: queries.ExtensionRow): ExtensionVersion {
  return { ...presentListed(row, extension), changelog: row.changelog };
}

/** Chooses the latest version of a locked extension again, and returns the extension. */
async function chooseLatest(app: App, trx: Db, extension: queries.ExtensionRow) {
  const latest = latestOf(await queries.selectOffered(trx, extension.id));
  const change = { latest_version_id: latest?.id ?? null, updated_at: app.clock.now() };
  return queries.extensions.update(trx, extension.organization_id, extension.id, change);
}

/**
 * Publishes a version of an extension.
 * @throws ResourceNotFoundError; ForbiddenError for an extension of another organization;
 * ValidationError; ConflictError for a version of the same precedence, and beyond 1,000.
 */
export function publishVersion(
  app: App,
  caller: Caller,
  extensionId: string,
  input: PublishVersion,
): Promise<ExtensionVersion> {
  const { version, permissions, events, sendModes, changelog = null } = input;
  const precedence = precedenceOf(version);
  if (precedence === null) {
    throw ValidationError.of('version', 'is not a semantic version such as 1.4.0 or 2.0.0-beta.1');
  }
  return app.store.write(async (trx) => {
    const extension = await lockOwn(trx, caller, extensionId);
    if ((await queries.countVersions(trx, extensionId)) >= mostVersions) {
      const text = `Extension ${extensionId} already has ${mostVersions} versions, the limit`;
      throw new ConflictError(versionNoun.name, text);
    }
    const row: queries.VersionRow = {
      id: app.newId(versionNoun),
      extension_id: extensionId,
      organization_id: caller.organizationId,
      version,
      precedence,
      permissions: JSON.stringify(permissions.toSorted(inOrder)),
      events: JSON.stringify(events.toSorted(inOrder)),
      send_modes: JSON.stringify(sendModes),
      runtime: input.runtime ?? extension.runtime,
      changelog,
      withdrawn_at: null,
      created_at: app.clock.now(),
    };
    if (!(await queries.insertVersion(trx, row))) {
      const text =
        `Extension ${extensionId} already has a version ${precedence}: a published version ` +
        'never changes, so publish a higher one';
      throw new ConflictError(versionNoun.name, text);
    }
    const changed = await chooseLatest(app, trx, extension);
    const details = { extensionId, version, permissions, events, sendModes, runtime: row.runtime };
    await record(app, trx, caller, { subject: row.id, action: versionNoun.created, details });
    return present(row, changed);
  });
}

/**
 * Returns a page of the versions of an extension, newest first.
 * @throws ResourceNotFoundError; ValidationError (a foreign cursor).
 */
export async function listVersions(
  app: App,
  { organizationId }: Caller,
  extensionId: string,
  { limit, cursor, ...times }: ListVersions,
): Promise<CursorPage<ListedVersion>> {
  const { db } = app.store;
  const extension = await getVisible(db, organizationId, extensionId);
  const { from, to } = boundsOf(times);
  const scope = ['extension-versions', extensionId, from, to];
  const before = cursor === undefined ? undefined : readCursor(scope, cursor).id;
  const rows = await queries.selectVersions(db, extensionId, { before, from, to }, limit + 1);
  const { shown, nextCursor } = cutPage(scope, rows, limit, positionOfId);
  return { items: shown.map((row) => presentListed(row, extension)), nextCursor };
}

/**
 * Returns a version by id or number; with null, the latest version.
 * @throws ResourceNotFoundError; ConflictError if the extension has no version to install.
 */
export async function findVersion(
  db: Db,
  extension: queries.ExtensionRow,
  wanted: string | null,
): Promise<queries.VersionRow> {
  const named = wanted ?? extension.latest_version_id;
  if (named === null) {
    const text = `Extension ${extension.id} has no version to install: publish one first`;
    throw new ConflictError(extensionNoun.name, text);
  }
  const row = await queries.findVersionRow(db, extension.id, named);
  if (!row) throw new ResourceNotFoundError(versionNoun.name, named);
  return row;
}

/** Shows a version by id or number. @throws ResourceNotFoundError. */
export async function getVersion(
  app: App,
  { organizationId }: Caller,
  extensionId: string,
  named: string,
): Promise<ExtensionVersion> {
  const { db } = app.store;
  const extension = await getVisible(db, organizationId, extensionId);
  return present(await findVersion(db, extension, named), extension);
}

/**
 * Stops offering a version. Installations keep it. A repeat succeeds.
 * @throws ResourceNotFoundError; ForbiddenError for an extension of another organization.
 */
export function withdrawVersion(
  app: App,
  caller: Caller,
  extensionId: string,
  named: string,
): Promise<ExtensionVersion> {
  return app.store.write(async (trx) => {
    const extension = await lockOwn(trx, caller, extensionId);
    const row = await findVersion(trx, extension, named);
    const now = app.clock.now();
    if (!(await queries.withdrawRow(trx, row.id, now))) return present(row, extension);
    const changed = await chooseLatest(app, trx, extension);
    const details = { extensionId, version: row.version };
    const change = { subject: row.id, action: 'extension-version.withdrawn', details } as const;
    await record(app, trx, caller, change);
    return present({ ...row, withdrawn_at: now }, changed);
  });
}

// Semantic versions (SemVer 2.0.0): their form, their order, and the default version of an
// installation.

/** Fields of a version that the order needs. Ids ascend in the order of publication. */
interface Ordered {
  id: string;
  /** Version without build metadata. */
  precedence: string;
}

/**
 * Returns the version without the build metadata, which does not count in the order; null unless
 * `text` is a version exactly in the form of SemVer 2.0.0.
 */
export function precedenceOf(text: string): string | null {
  const parsed = parse(text);
  if (!parsed) return null;
  const build = parsed.build.length > 0 ? `+${parsed.build.join('.')}` : '';
  return parsed.version + build === text ? parsed.version : null;
}

/** Returns the highest release; else the last published prerelease; null for an empty list. */
export function latestOf<Version extends Ordered>(versions: readonly Version[]): Version | null {
  const releases = versions.filter(({ precedence }) => prerelease(precedence) === null);
  const [highest] = releases.sort((a, b) => rcompare(a.precedence, b.precedence));
  if (highest) return highest;
  const [last] = versions.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  return last ?? null;
}
