// The shapes that compiling and filling share. A template is compiled once per version: MJML,
// partials and CSS become HTML with Liquid in it. Each send fills the Liquid.

/** Files of a workspace by path, such as `body.mjml` or `partials/header.mjml`. */
export type TemplateFiles = Readonly<Record<string, string>>;

/** A version as it is stored, as JSON. The texts are Liquid. */
export interface CompiledTemplate {
  subject: string;
  /** Text after the subject in lists of mail; it is also in `html`, hidden. */
  preheader: string | null;
  html: string | null;
  text: string | null;
  /** Compiled partials by the name that `render` gives. */
  partials: Readonly<Record<string, string>>;
  /** Partials for `text`. */
  textPartials: Readonly<Record<string, string>>;
  /** Slug of the brand; null for the default brand of the organization. */
  brand: string | null;
  priority: 'high' | 'normal' | 'low' | null;
  allowRawHtml: boolean;
  /** The JSON Schema of `contract.json`; null without the file. */
  contract: Readonly<Record<string, unknown>> | null;
}

/** Advice about a template that does not refuse it. */
export interface TemplateWarning {
  /** Short name of the rule, such as `image-without-alt`. */
  code: string;
  message: string;
  /** The file, if the warning is about a file. */
  path: string | null;
  /** Line in the file, from 1. */
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

/** Values in the scope of a template, beside the data. */
export interface FillValues {
  /** At the top of the scope. */
  data: Readonly<Record<string, unknown>>;
  /** The contact, if the message has a single recipient. */
  contact: Readonly<Record<string, unknown>> | null;
  brand: BrandValues | null;
  sender: { email: string; name: string | null };
  unsubscribeUrl: string | null;
  viewUrl: string | null;
  message: { id: string; createdAt: string };
  /** Adds the footer of the brand to templates that do not place it. */
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
