// Shared schemas of header values: addresses in the service's normal form, and text without line
// breaks, which is refused with 422 and never silently cleaned.
import { z } from 'zod';
import { isHeaderSafe, parseAddress } from '../../platform/net/address.ts';

/** Error text for control characters in a header value. */
export const notHeaderSafe = 'must not contain line breaks or control characters';

/** Schema of an address in the service's normal form. */
export const emailAddress = z
  .string()
  .max(320)
  .transform((text, context) => {
    const address = parseAddress(text);
    if (address) return address.email;
    context.addIssue({ code: 'custom', message: 'is not a valid email address' });
    return z.NEVER;
  })
  .meta({ format: 'email' });

/** Schema of a domain name in the service's normal form. */
export const domainName = z
  .string()
  .max(255)
  .transform((text, context) => {
    // A domain is valid if an address in the domain is valid.
    const address = parseAddress(`postmaster@${text}`);
    if (address?.localPart === 'postmaster') return address.domain;
    context.addIssue({ code: 'custom', message: 'is not a domain name such as example.com' });
    return z.NEVER;
  });

/** Schema of text for a header field. */
export function headerText(maxLength: number) {
  return z.string().max(maxLength).refine(isHeaderSafe, notHeaderSafe);
}
