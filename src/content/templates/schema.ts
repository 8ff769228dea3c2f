// Input and output shapes of templates and their published versions (specification 4.6).
import { z } from 'zod';
import { headerText } from '../../core/api/address-schema.ts';
import { boundedMap } from '../../core/api/bounded-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idOf, timeRange } from '../../core/api/resource-schema.ts';
import { contactNoun } from '../../people/contacts/schema.ts';
import { unsubscribeGroupNoun } from '../../people/unsubscribe-groups/schema.ts';
import { idPrefixes } from '../../platform/runtime/ids.ts';
import { brandSlug } from '../brands/schema.ts';
import { fileLimits } from '../rendering/files.ts';
import { templateWarning } from '../rendering/schema.ts';

export const templateNoun = noun('template', idPrefixes.template);

export const familyNoun = noun('template-family', 'tfam');

/** Most keys of template data, as in a send. */
const mostData = 1_000;
const longestLine = 10_000;
export const longestName = 200;
export const longestSlug = 100;
const longestFile = fileLimits.bytesOfFile;

/** A slug. The pattern excludes ids, which have an underscore. */
export const templateSlug = z
  .string()
  .max(longestSlug)
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$/,
    'must have 1 to 100 lower-case letters, digits and hyphens, without a hyphen at either end',
  );

const templateStatuses = ['draft', 'published', 'archived'] as const;
const channels = ['email'] as const;

const name = headerText(longestName).min(1);
const description = headerText(500).meta({ description: 'Purpose of the template' });
const slug = templateSlug.meta({ description: 'Slug in sends, unique in the organization' });
const fileText = z.string().max(longestFile, `has at most ${longestFile} characters`);
const brand = brandSlug.meta({
  description: 'Slug of its brand (default: the default brand of the organization)',
});

export const listTemplatesQuery = z.strictObject({
  ...pageQuery,
  ...timeRange('templates created'),
  status: z.enum(templateStatuses).optional().meta({ description: 'Only templates in this state' }),
  channel: z.enum(channels).optional().meta({ description: 'Only templates for this channel' }),
  slug: templateSlug.optional().meta({ description: 'Only the template with this slug' }),
  familyId: idOf(familyNoun, 'is not a template family id')
    .optional()
    .meta({ description: 'Only templates of this family' }),
});

/** Fields of inline content, given in place of files. */
const inlineFields = ['subject', 'preheader', 'html', 'mjml', 'text', 'brand'] as const;

export const createTemplateInput = z
  .strictObject({
    name: name.optional().meta({ description: 'Name of the template (default: its slug)' }),
    slug,
    channel: z.enum(channels).optional().describe('Always `email`'),
    description: description.nullish(),
    subject: z.string().max(longestLine).optional().meta({ description: 'Subject, with Liquid' }),
    preheader: z
      .string()
      .max(longestLine)
      .optional()
      .meta({ description: 'Text after the subject in lists of mail, with Liquid' }),
    html: fileText.optional().meta({ description: 'HTML, with Liquid' }),
    mjml: fileText.optional().meta({ description: 'MJML instead of HTML, with Liquid' }),
    text: fileText.optional().meta({
      description: 'Plain text, with Liquid (default: a text made from the HTML)',
    }),
    brand: brand.optional(),
    files: boundedMap(
      z.record(z.string(), fileText),
      fileLimits.files,
      `at most ${fileLimits.files} files`,
    )
      .optional()
      .meta({ description: 'All files of the template by path, instead of subject and content' }),
  })
  .superRefine((input, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    if (input.files !== undefined) {
      for (const field of inlineFields) {
        if (input[field] !== undefined) refuse(field, 'must be omitted with files');
      }
      return;
    }
    const { subject, html, mjml, text } = input;
    if (subject === undefined) refuse('subject', 'is required, or files');
    if (html !== undefined && mjml !== undefined) refuse('mjml', 'must be omitted with html');
    if (html === undefined && mjml === undefined && text === undefined) {
      refuse('html', 'is required, or mjml, text or files');
    }
  })
  .meta({
    examples: [
      {
        name: 'Order shipped',
        slug: 'order-shipped',
        subject: 'Your order {{ order.number }} has shipped',
        html: '<p>Dear {{ contact.firstName }}, your order {{ order.number }} is on its way.</p>',
      },
    ],
  });

export const updateTemplateInput = z
  .strictObject({
    name: name.optional().meta({ description: 'Name of the template' }),
    slug: slug.optional(),
    description: description.nullable().optional(),
  })
  .meta({ examples: [{ name: 'Order shipped', description: 'Sent when the parcel leaves' }] });

export const duplicateTemplateInput = z
  .strictObject({
    name: name.optional().meta({ description: 'Name of the copy (default: "NAME (copy)")' }),
    slug: templateSlug
      .optional()
      .meta({ description: 'Slug of the copy (default: SLUG-copy, with a number if taken)' }),
  })
  .meta({ examples: [{ slug: 'order-shipped-de' }] });

export const renderTemplateInput = z
  .strictObject({
    data: boundedMap(z.record(z.string(), z.unknown()), mostData).optional().meta({
      description: 'Values for Liquid: the `email.templateData` of a send',
    }),
    brand: brandSlug.optional().meta({ description: 'Slug of another brand' }),
    contactId: idOf(contactNoun, 'is not a contact id')
      .optional()
      .meta({ description: 'Contact whose values fill `contact`; needs contacts:read' }),
    unsubscribeGroupId: idOf(unsubscribeGroupNoun, 'is not an unsubscribe group id')
      .optional()
      .meta({ description: 'Unsubscribe group of the send: `unsubscribe_url` needs one' }),
    footer: z
      .strictObject({ enabled: z.boolean().describe('Whether the mail has the footer') })
      .optional()
      .meta({ description: 'Footer of the brand, as in a send' }),
    draft: z
      .boolean()
      .optional()
      .meta({ description: 'Render the unsaved workspace, not the published version' }),
  })
  .meta({ examples: [{ data: { order: { number: 'A-17' } } }] });

export const templateOutput = z
  .object({
    id: z.string().describe('Id of the template'),
    organizationId: z.string().describe('Organization of the template'),
    name: z.string().describe('Name, for people'),
    slug: z.string().describe('Slug that sends can name'),
    channel: z.enum(channels).describe('Always `email`'),
    description: z.string().nullable().describe('Description; null without one'),
    status: z
      .enum(templateStatuses)
      .describe('State of the template; only a published template can be sent'),
    isActive: z.boolean().meta({ description: 'Whether it can be sent: it is published' }),
    familyId: z.string().nullable().describe('Family of the template; null without one'),
    version: z
      .number()
      .nullable()
      .meta({ description: 'Number of the version that sends use; null before the first' }),
    publishedAt: z.string().nullable().describe('Time of the latest publication; null before'),
    archivedAt: z.string().nullable().describe('Time of the archival; null if it is not archived'),
    createdAt: z.string().describe('Time of creation'),
    updatedAt: z.string().describe('Time of the last change'),
  })
  .meta({ id: 'Template', description: 'Stored content of mail, filled for each message' });

export const templateVersionOutput = z
  .object({
    id: z.string().describe('Id of the version'),
    templateId: z.string().describe('Template of the version'),
    version: z.number().describe('Number of the version, from 1'),
    commit: z.string().meta({ description: 'Commit of the workspace that was compiled' }),
    brand: z
      .string()
      .nullable()
      .meta({ description: 'Slug of the brand whose CSS is in the HTML' }),
    htmlBytes: z.number().meta({ description: 'Size of the compiled HTML' }),
    warnings: z.array(templateWarning).describe('Advice on the content'),
    createdBy: z
      .string()
      .nullable()
      .meta({ description: 'Id of the publishing key; null for the operator' }),
    createdAt: z.string().describe('Time of the publication'),
  })
  .meta({ id: 'TemplateVersion', description: 'A published commit of a template' });

export const listVersionsQuery = z.strictObject({
  ...pageQuery,
  ...timeRange('versions published'),
});

export const renderedOutput = z
  .object({
    subject: z.string().describe('Subject line'),
    preheader: z.string().nullable().describe('Preview line; null without one'),
    html: z.string().nullable().describe('HTML; null without any'),
    text: z.string().nullable().describe('Plain text; null without any'),
    warnings: z.array(templateWarning).describe('Advice on the content'),
  })
  .meta({ id: 'RenderedTemplate', description: 'The content that a send would have' });

export type TemplateStatus = (typeof templateStatuses)[number];
export type ListTemplates = z.output<typeof listTemplatesQuery>;
export type CreateTemplate = z.output<typeof createTemplateInput>;
export type UpdateTemplate = z.output<typeof updateTemplateInput>;
export type DuplicateTemplate = z.output<typeof duplicateTemplateInput>;
export type RenderTemplate = z.output<typeof renderTemplateInput>;
export type ListVersions = z.output<typeof listVersionsQuery>;
export type Template = z.output<typeof templateOutput>;
export type TemplateVersion = z.output<typeof templateVersionOutput>;
export type Rendered = z.output<typeof renderedOutput>;
