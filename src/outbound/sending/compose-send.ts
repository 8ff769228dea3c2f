// The content of a send that names a template, or that asks for the footer of a brand. It is filled
// before the accept transaction. The message stores the result, so it never changes later.
import { brandValuesOf, findBrandForTemplate } from '../../content/brands/values.ts';
import type {
  CompiledTemplate,
  FillValues,
  TemplateWarning,
} from '../../content/rendering/compiled.ts';
import { withFooter } from '../../content/rendering/footer.ts';
import { recipientUrl } from '../../content/rendering/recipient-url.ts';
import { composeFromTemplate } from '../../content/templates/compose.ts';
import { allows } from '../../core/api/permission.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { ForbiddenError, ValidationError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { viewUrl } from '../messages/contents/storage-urls.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import type { FilledTemplate } from './draft.ts';
import { type SendFacts, sendFacts } from './send-facts.ts';

/** A payload with the content that was filled in. */
export interface ComposedSend {
  payload: SendPayload;
  template: FilledTemplate;
  preheader: string | null;
  warnings: TemplateWarning[];
}

/** Tells whether the content of a payload depends on stored templates or brands. */
export function isComposed({ email }: SendPayload): boolean {
  return (
    email.templateId !== undefined ||
    email.templateSlug !== undefined ||
    email.footer?.enabled === true
  );
}

/**
 * Fills in the content of a payload. A dry run shows the content to the caller, so for a key
 * without contacts:read it contains no values of the contact. @throws ResourceNotFoundError for an
 * unknown template; ConflictError for an unpublished template; ForbiddenError for a caller that may
 * not read templates; ValidationError for data that the template does not accept, and for a footer
 * without a brand; CapacityError
 */
export async function composeSend(
  app: App,
  caller: Caller,
  payload: SendPayload,
  isDryRun: boolean,
): Promise<ComposedSend> {
  const { email } = payload;
  const filled: FilledTemplate = {
    id: null,
    version: null,
    messageId: app.newId('message'),
    createdAt: app.clock.now(),
  };
  const unsubscribeUrl = email.unsubscribeGroupId === undefined ? null : recipientUrl(app);
  if (email.templateId === undefined && email.templateSlug === undefined) {
    return withInlineFooter(app, caller, payload, filled, unsubscribeUrl);
  }
  if (!allows(caller.permissions, 'templates:read')) {
    throw new ForbiddenError('Sending a template needs templates:read beside messages:send');
  }
  const facts = await sendFacts(app, caller.organizationId, payload);
  const { id, version, compiled, key } = facts.template;
  const hidesContact =
    isDryRun && facts.contact !== null && !allows(caller.permissions, 'contacts:read');
  const shown = hidesContact ? { ...facts, contact: null } : facts;
  const values = valuesOf(app, payload, shown, filled, unsubscribeUrl);
  const content = await composeFromTemplate(
    app,
    caller.organizationId,
    { key, compiled },
    facts.brand,
    values,
    'email.templateData',
  );
  return {
    payload: {
      ...payload,
      email: { ...withoutTemplate(email), ...contentOf(content, compiled, email) },
    },
    template: { ...filled, id, version },
    preheader: content.preheader,
    warnings: [...content.warnings, ...(hidesContact ? [contactHidden] : [])],
  };
}

const contactHidden: TemplateWarning = {
  code: 'contact-hidden',
  message: 'the values of the contact are left out: showing them needs contacts:read',
  path: null,
  line: null,
};

function valuesOf(
  app: App,
  { email }: SendPayload,
  { contact, sender }: SendFacts,
  { messageId, createdAt }: FilledTemplate,
  unsubscribeUrl: string | null,
): Omit<FillValues, 'brand'> {
  return {
    data: email.templateData ?? {},
    contact,
    sender,
    unsubscribeUrl,
    viewUrl: viewUrl(app, messageId, createdAt),
    message: { id: messageId, createdAt: isoTime(createdAt) },
    footer: email.footer?.enabled ?? false,
  };
}

type Email = SendPayload['email'];

function withoutTemplate({
  templateId,
  templateSlug,
  templateData,
  footer,
  ...email
}: Email): Email {
  return email;
}

function contentOf(
  { subject, html, text }: { subject: string; html: string | null; text: string | null },
  { priority }: CompiledTemplate,
  email: Email,
): Partial<Email> {
  return {
    subject,
    ...(html !== null && { html }),
    // An empty text keeps the send from making a text of the HTML: the template has made the text.
    text: text ?? '',
    ...(email.priority === undefined && priority !== null && { priority }),
  };
}

/** Adds the footer of the default brand to inline content. */
async function withInlineFooter(
  app: App,
  { organizationId }: Caller,
  payload: SendPayload,
  template: FilledTemplate,
  unsubscribeUrl: string | null,
): Promise<ComposedSend> {
  const brand = await findBrandForTemplate(app.store.db, organizationId, null);
  if (!brand) {
    throw ValidationError.of(
      'email.footer',
      'needs a brand: create one with `svc brands create`, or leave the footer out',
    );
  }
  const { html = null, text = null } = payload.email;
  const content = withFooter({ html, text }, brandValuesOf(brand), unsubscribeUrl);
  const email = { ...withoutTemplate(payload.email), ...definedOf(content) };
  return { payload: { ...payload, email }, template, preheader: null, warnings: [] };
}

function definedOf({ html, text }: { html: string | null; text: string | null }): Partial<Email> {
  return { ...(html !== null && { html }), ...(text !== null && { text }) };
}
