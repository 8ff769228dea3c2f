// Contents that are filled for each message. All messages of a campaign run share a compiled
// content, and each message stores the values of the contact. Every attempt, download, preview and
// click fills the content again; the same values always give the same bytes. The template worker
// fills the content, not the carrier: a fill beyond the deadline ends its thread, and the carrier's
// thread holds connections.
import type { BrandValues, CompiledTemplate, Filled } from '../../../content/rendering/compiled.ts';
import { fillTemplate } from '../../../content/rendering/fill.ts';
import { recipientUrl } from '../../../content/rendering/recipient-url.ts';
import type { App } from '../../../core/app.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';
import { perApp } from '../../../platform/runtime/per-app.ts';
import { recentlyUsedBytes } from '../../../platform/runtime/recently-used.ts';
import { fromJson } from '../../../platform/store/db.ts';
import { textAtOnce, withLongText } from '../made-text.ts';
import type { MessageRow } from '../queries.ts';
import { type ContentRow, findContents } from './content-queries.ts';
import { findMergedContent, findMessageValues } from './merge-queries.ts';
import { viewUrl } from './storage-urls.ts';

const mostKept = { contents: 1_000, bytes: 32 * 1024 * 1024 };

/** Template and values that all messages of a content share, stored as JSON. */
export interface SharedMerge {
  compiled: CompiledTemplate;
  /** Data beside the values of the contact. */
  data: Record<string, unknown>;
  brand: BrandValues | null;
  sender: { email: string; name: string | null };
  footer: boolean;
  hasUnsubscribeGroup: boolean;
  /** Whether HTML without a text gets a text. Templates contain a text themselves. */
  makesText: boolean;
}

/** Values of a message, stored as JSON. */
export interface MergeData {
  contact: Readonly<Record<string, unknown>> | null;
}

/** Columns of a message that decide the content. */
export type ContentOwner = Pick<
  MessageRow,
  'id' | 'organization_id' | 'content_id' | 'campaign_run_id' | 'created_at'
>;

interface Kept {
  /** Null for a content without Liquid. */
  shared: SharedMerge | null;
  bytes: number;
}

const keptContents = perApp((_app: App) =>
  recentlyUsedBytes<Kept>(mostKept.contents, mostKept.bytes, ({ bytes }) => bytes),
);

/** Returns the template and the shared values of a content; null for a content without Liquid. */
export async function sharedMergeOf(app: App, contentId: string): Promise<SharedMerge | null> {
  const kept = keptContents(app);
  const known = kept.get(contentId);
  if (known) return known.shared;
  const json = (await findMergedContent(app.store.db, contentId))?.compiled ?? null;
  const shared = fromJson<SharedMerge>(json);
  kept.set(contentId, { shared, bytes: json?.length ?? 0 });
  return shared;
}

/** Message to fill, with the name of the data field in errors. */
interface Filling {
  organizationId: string;
  /** Id of the compiled content: equal keys mean equal templates. */
  key: string;
  message: { id: string; createdAt: number };
  dataField: string;
  /** True if only the success of the fill matters: the answer then lacks HTML and text. */
  isBrief?: boolean;
  /** Cancels a fill that no worker has begun: it rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/**
 * Fills a shared content with the values of a message.
 * @throws ValidationError for values that the template refuses; CapacityError
 */
export async function fillMerged(
  app: App,
  shared: SharedMerge,
  { contact }: MergeData,
  { organizationId, key, message, dataField, isBrief = false, signal }: Filling,
): Promise<Filled> {
  const { compiled, data, brand, sender, footer, hasUnsubscribeGroup, makesText } = shared;
  const values = {
    data,
    contact,
    brand,
    sender,
    footer,
    unsubscribeUrl: hasUnsubscribeGroup ? recipientUrl(app) : null,
    viewUrl: viewUrl(app, message.id, message.createdAt),
    message: { id: message.id, createdAt: isoTime(message.createdAt) },
  };
  const options = { dataField, isBrief, signal };
  const filled = await fillTemplate(app, organizationId, { key, compiled }, values, options);
  const { html, text } = filled;
  if (!makesText || text !== null || html === null) return filled;
  const made = await withLongText(app, organizationId, { html, text });
  return { ...filled, text: (made.text ?? textAtOnce(html)) || null };
}

/** Tells whether the content of a message is filled with the message's own values. */
export async function isMerged(
  app: App,
  { content_id, campaign_run_id }: Pick<ContentOwner, 'content_id' | 'campaign_run_id'>,
): Promise<boolean> {
  if (campaign_run_id === null || content_id === null) return false;
  return (await sharedMergeOf(app, content_id)) !== null;
}

/** Rows of a message that the caller has read already. */
export interface KnownContent {
  content?: ContentRow | null | undefined;
  /** JSON of `MergeData`. */
  values?: string | undefined;
}

/**
 * Reads the content of a message as the recipient gets it, except for the recipient's own links.
 * Undefined without content. @throws ValidationError and CapacityError as `fillMerged`
 */
export async function readContent(
  app: App,
  message: ContentOwner,
  known: KnownContent = {},
): Promise<ContentRow | undefined> {
  const { id, content_id: contentId, campaign_run_id: runId, created_at: createdAt } = message;
  if (contentId === null) return undefined;
  const [row] = known.content ? [known.content] : await findContents(app.store.db, [contentId]);
  const shared = row && runId !== null ? await sharedMergeOf(app, contentId) : null;
  if (!row || !shared) return row;
  const values = known.values ?? (await findMessageValues(app.store.db, [id])).get(id) ?? null;
  const { html, text } = await fillMerged(
    app,
    shared,
    fromJson<MergeData>(values) ?? { contact: null },
    {
      organizationId: message.organization_id,
      key: contentId,
      message: { id, createdAt },
      dataField: 'email.templateData',
    },
  );
  return { ...row, html, text };
}
