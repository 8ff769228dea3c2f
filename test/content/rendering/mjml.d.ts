// Types of mjml 5, as far as tests use it.
declare module 'mjml' {
  interface MjmlOptions {
    fonts?: Record<string, string>;
    validationLevel?: 'strict' | 'soft' | 'skip';
  }
  export default function mjml2html(mjml: string, options?: MjmlOptions): Promise<{ html: string }>;
}
