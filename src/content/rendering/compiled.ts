// The shapes that compiling and filling share. A template is compiled once per version: MJML,
// partials and CSS become HTML with Liquid in it. Each send fills in the values.

/** Files of a workspace by path, such as `body.mjml` or `partials/header.mjml`. */
export type TemplateFiles = Readonly<Record<string, string>>;

/** A published version, stored as JSON. The texts contain Liquid. */
export interface CompiledTemplate {
  subject: string;
  /** Text after the subject in lists of mail. `html` contains it too, hidden. */
  preheader: string | null;
  html: string | null;
  text: string | null;
  /** Compiled partials of `html`, by the name in `render`. */
  partials: Readonly<Record<string, string>>;
  /** Compiled partials of `text`, by the name in `render`. */
  textPartials: Readonly<Record<string, string>>;
  /** Slug of the brand; null for the default brand of the organization. */
  brand: string | null;
  priority: 'high' | 'normal' | 'low' | null;
  allowRawHtml: boolean;
  /** The JSON Schema of `contract.json`; null without the file. */
  contract: Readonly<Record<string, unknown>> | null;
}

/** Advice about a template. The template is accepted. */
export interface TemplateWarning {
  /** Short name of the rule, such as `image-without-alt`. */
  code: string;
  message: string;
  /** Path of the file; null if the warning is not about a file. */
  path: string | null;
  /** Line in the file, from 1; null if the warning is not about a line. */
  line: number | null;
}

export interface Compilation {
  compiled: CompiledTemplate;
  warnings: TemplateWarning[];
}

/** Values of a brand, for `brand` in Liquid and for the footer. */
export interface BrandValues {
  name: string;
  slug: string;
  logoUrl: string | null;
  logoDarkUrl: string | null;
  iconUrl: string | null;
  footer: {
    companyName: string | null;
    address: {
      street1: string | null;
      street2: string | null;
      city: string | null;
      region: string | null;
      postalCode: string | null;
      country: string | null;
    } | null;
    socialLinks: readonly { label: string; url: string }[];
  };
}

/** Values that a template can read, besides the data of the send. */
export interface FillValues {
  /** Data of the send: each field is a top-level variable of the template. */
  data: Readonly<Record<string, unknown>>;
  /** Values of the contact; null for several recipients, and for a recipient without a contact. */
  contact: Readonly<Record<string, unknown>> | null;
  brand: BrandValues | null;
  sender: { email: string; name: string | null };
  unsubscribeUrl: string | null;
  viewUrl: string | null;
  message: { id: string; createdAt: string };
  /** Whether the footer of the brand is added to templates that do not place it. */
  footer: boolean;
}

/** A template with the variables filled in. */
export interface Filled {
  subject: string;
  preheader: string | null;
  html: string | null;
  text: string | null;
  warnings: TemplateWarning[];
}
