// Publishes a template: compiles the head of main outside of the transaction, then stores a version
// if the head is still the same.
import { type Caller, callerId } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { eventToRecord, record } from '../../history/events/record.ts';
import { ConflictError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { findHead } from '../git/repository.ts';
import { type CompiledFiles, compileFiles } from './compile-files.ts';
import { templatePublished } from './events.ts';
import { presentTemplate } from './present.ts';
import * as queries from './queries.ts';
import type { Template } from './schema.ts';
import { headFiles } from './workspace/begin.ts';

/** Most warnings that a version keeps, so that a page of versions stays small. */
const mostWarnings = 100;
/** Most compilations of a request, if saves keep moving the head. */
const mostTries = 5;

/**
 * Publishes the saved files. Makes no new version for the same commit and CSS.
 * @throws ResourceNotFoundError; ValidationError for files that do not compile; ConflictError if
 * saves keep changing the files meanwhile.
 */
export async function publishTemplate(app: App, caller: Caller, id: string): Promise<Template> {
  const { organizationId } = caller;
  const { db } = app.store;
  for (let tries = 0; tries < mostTries; tries++) {
    await queries.templates.get(db, organizationId, id);
    const { commit, files } = await headFiles(db, id);
    const compiled = await compileFiles(app, organizationId, files);
    const published = await app.store.write((trx) => store(app, trx, caller, id, commit, compiled));
    if (published !== null) return published;
  }
  throw new ConflictError('template', `${id} is saved again and again: publish it afterwards`);
}

/** Stores a version and makes it the current version. Returns null if the head has moved. */
async function store(
  app: App,
  trx: Db,
  caller: Caller,
  id: string,
  commit: string,
  files: CompiledFiles,
): Promise<Template | null> {
  const { organizationId } = caller;
  await queries.lockTemplates(trx, [id]);
  const row = await queries.templates.get(trx, organizationId, id);
  if ((await findHead(trx, id))?.oid !== commit) return null;
  const isSame = await isCurrent(trx, row, commit, files);
  if (isSame && row.status === 'published') return presentTemplate(row);
  const now = app.clock.now();
  const version = isSame
    ? {}
    : await addVersion(trx, row, { id: app.newId('templateVersion'), commit, files, caller, now });
  const published = await queries.templates.update(trx, organizationId, id, {
    ...version,
    status: 'published',
    published_at: now,
    archived_at: null,
    updated_at: now,
  });
  const data = presentTemplate(published);
  const details = { slug: row.slug, version: published.version_number, commit };
  const event = eventToRecord(templatePublished, data, { commit });
  await record(app, trx, caller, { subject: id, action: 'template.published', details, event });
  return data;
}

/** Tells whether the current version was compiled from the same commit and CSS. */
async function isCurrent(
  trx: Db,
  row: queries.TemplateRow,
  commit: string,
  { cssDigest }: CompiledFiles,
): Promise<boolean> {
  if (row.version_id === null) return false;
  const version = await queries.findVersion(trx, row.version_id);
  return version?.commit_hash === commit && version.css_digest === cssDigest;
}

interface NewVersion {
  id: string;
  commit: string;
  files: CompiledFiles;
  caller: Caller;
  now: number;
}

/** Inserts a version; returns the columns of the template that refer to it. */
async function addVersion(
  trx: Db,
  { id: templateId, organization_id, next_version: number }: queries.TemplateRow,
  { id, commit, files, caller, now }: NewVersion,
) {
  const { compiled, warnings, cssDigest, brandSlug } = files;
  await queries.insertVersion(trx, {
    id,
    organization_id,
    template_id: templateId,
    number,
    commit_hash: commit,
    compiled: JSON.stringify(compiled),
    warnings: JSON.stringify(warnings.slice(0, mostWarnings)),
    html_bytes: Buffer.byteLength(compiled.html ?? ''),
    brand_slug: brandSlug,
    css_digest: cssDigest,
    created_by: callerId(caller),
    created_at: now,
  });
  return { version_id: id, version_number: number, next_version: number + 1 };
}
