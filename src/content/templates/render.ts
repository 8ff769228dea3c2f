// Previews of a template: the content that a send would have, with advice about it. Stores nothing.
import { hash } from 'node:crypto';
import { allows } from '../../core/api/permission.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { findDefaultSender } from '../../identity/senders/queries.ts';
import { findGroupOwners } from '../../people/unsubscribe-groups/queries.ts';
import {
  ConflictError,
  ForbiddenError,
  InternalError,
  ResourceNotFoundError,
  ValidationError,
} from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { findBrandForTemplate } from '../brands/values.ts';
import { filesAt } from '../git/repository.ts';
import type { CompiledTemplate, TemplateFiles, TemplateWarning } from '../rendering/compiled.ts';
import { recipientUrl } from '../rendering/recipient-url.ts';
import { compileFiles } from './compile-files.ts';
import { adviceOn, composeFromTemplate, type KeyedTemplate } from './compose.ts';
import * as queries from './queries.ts';
import type { Rendered, RenderTemplate } from './schema.ts';
import { type ContactValues, findContactValues } from './scope.ts';
import { openWorkspace, unlessDeleted } from './workspace/changes.ts';
import { draftOf } from './workspace/draft.ts';

/** A compiled template with the files that it was compiled from. */
interface Preview extends KeyedTemplate {
  files: TemplateFiles;
  /** Advice of the compilation. */
  warnings: TemplateWarning[];
}

/**
 * Renders the published version; with `draft: true` the workspace with staged files.
 * @throws ResourceNotFoundError for an unknown template, brand, contact or unsubscribe group;
 * ConflictError for a template without a version; ForbiddenError for a contact that the caller may
 * not read; ValidationError for data that the template does not accept.
 */
export async function renderTemplate(
  app: App,
  caller: Caller,
  id: string,
  input: RenderTemplate = {},
): Promise<Rendered> {
  const { db } = app.store;
  const { organizationId } = caller;
  const row = await queries.templates.get(db, organizationId, id);
  if (!input.draft) {
    return render(app, caller, await publishedPreview(app, caller, row, input.brand), input);
  }
  const { base, overlay } = await openWorkspace(db, organizationId, id);
  return renderFiles(app, caller, draftOf(base, overlay), input);
}

/** Renders files that belong to no template. @throws ValidationError */
export async function renderFiles(
  app: App,
  caller: Caller,
  files: TemplateFiles,
  input: RenderTemplate = {},
): Promise<Rendered> {
  return render(app, caller, await previewOf(app, caller, files, input.brand), input);
}

async function previewOf(
  app: App,
  { organizationId }: Caller,
  files: TemplateFiles,
  brand: string | undefined,
): Promise<Preview> {
  const { compiled, warnings } = await compileFiles(app, organizationId, files, brand);
  return { key: hash('sha256', JSON.stringify(compiled)), compiled, files, warnings };
}

async function publishedPreview(
  app: App,
  caller: Caller,
  { id, version_id: versionId }: queries.TemplateRow,
  brand: string | undefined,
): Promise<Preview> {
  const { db } = app.store;
  if (versionId === null) {
    throw new ConflictError(
      'template',
      `${id} was never published: publish it, or render its draft`,
    );
  }
  const { version, files, compiled } = await unlessDeleted(db, id, () =>
    readVersion(db, id, versionId),
  );
  if (brand !== undefined) return previewOf(app, caller, files, brand);
  return {
    key: versionId,
    compiled: fromJson<CompiledTemplate>(compiled),
    files,
    warnings: fromJson<TemplateWarning[]>(version.warnings),
  };
}

/** Returns a version with files and compiled texts. @throws InternalError if a part is missing */
async function readVersion(db: Db, id: string, versionId: string) {
  const version = await queries.findVersion(db, versionId);
  const [stored] = await queries.findCompiled(db, [versionId]);
  const files = version && (await filesAt(db, id, version.commit_hash));
  if (!(files && stored)) throw new InternalError(`A version of ${id} is missing`, 'store');
  return { version, files, compiled: stored.compiled };
}

async function render(
  app: App,
  caller: Caller,
  { files, warnings, ...template }: Preview,
  input: RenderTemplate,
): Promise<Rendered> {
  const { organizationId } = caller;
  const { unsubscribeGroupId } = input;
  const sender = await findDefaultSender(app.store.db, organizationId);
  if (unsubscribeGroupId !== undefined) await checkGroup(app, organizationId, unsubscribeGroupId);
  const values = {
    data: input.data ?? sampleOf(files),
    contact: await contactOf(app, caller, input),
    sender: { email: sender?.email ?? '', name: sender?.name ?? null },
    unsubscribeUrl: unsubscribeGroupId === undefined ? null : recipientUrl(app),
    viewUrl: null,
    message: { id: '', createdAt: isoTime(app.clock.now()) },
    footer: input.footer?.enabled ?? false,
  };
  const { brand: slug } = template.compiled;
  const brand = await findBrandForTemplate(app.store.db, organizationId, slug);
  const filled = await composeFromTemplate(app, organizationId, template, brand, values, 'data');
  const advice = await adviceOn(app, organizationId, filled.html ?? '', {
    sender: values.sender.email,
    hasGroup: unsubscribeGroupId !== undefined,
  });
  return { ...filled, warnings: distinct([...warnings, ...filled.warnings, ...advice]) };
}

/** Leaves out repeated warnings: the source and the filled HTML may cause the same warning. */
function distinct(warnings: readonly TemplateWarning[]): TemplateWarning[] {
  const seen = new Map<string, TemplateWarning>();
  for (const warning of warnings) {
    const key = `${warning.code} ${warning.message}`;
    if (!seen.has(key)) seen.set(key, warning);
  }
  return [...seen.values()];
}

/**
 * Returns the values of `sample.json`, or an empty object without the file. @throws ValidationError
 * for JSON that is not an object
 */
function sampleOf(files: TemplateFiles): Record<string, unknown> {
  const text = files['sample.json'];
  if (text === undefined) return {};
  try {
    const sample: unknown = JSON.parse(text);
    if (typeof sample === 'object' && sample !== null && !Array.isArray(sample)) {
      return sample as Record<string, unknown>;
    }
  } catch {
    // Falls through to the error for JSON that is not an object.
  }
  throw ValidationError.of('files.sample.json', 'must be a JSON object');
}

async function contactOf(
  app: App,
  { organizationId, permissions }: Caller,
  { contactId }: RenderTemplate,
): Promise<ContactValues | null> {
  if (contactId === undefined) return null;
  if (!allows(permissions, 'contacts:read')) {
    throw new ForbiddenError('contactId needs contacts:read beside templates:read');
  }
  const found = await findContactValues(app.store.db, organizationId, [contactId]);
  const values = found.get(contactId);
  if (!values) throw new ResourceNotFoundError('contact', contactId);
  return values;
}

async function checkGroup(app: App, organizationId: string, id: string): Promise<void> {
  const [owner] = await findGroupOwners(app.store.db, [id]);
  if (owner?.organization_id === organizationId) return;
  throw new ResourceNotFoundError('unsubscribe-group', id);
}
