// A certificate authority for tests, with a P-256 key and a certificate for mx1.test, mx2.test and
// mta-sts.example.test, valid 2020 to 2119. Made once with openssl, because Node cannot create
// certificates. Public, for tests only.
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

export const authorityCert = `-----BEGIN CERTIFICATE-----
MIIBbjCCARSgAwIBAgICEAAwCgYIKoZIzj0EAwIwHTEbMBkGA1UEAwwSc3ZjIHRl
c3QgYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMTkxMjMxMDAwMDAwWjAd
MRswGQYDVQQDDBJzdmMgdGVzdCBhdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASZLdVvToFyQ7QC7zOiKdSlgHbS5ZCx+z8wGboe2BdPTtPdAuY+CQiV
a77bFjY7UIZw56CXSFvDT+zX7xZz+2z/o0IwQDAPBgNVHRMBAf8EBTADAQH/MA4G
A1UdDwEB/wQEAwIBBjAdBgNVHQ4EFgQUEgcTSJHBi8uuhN8HheIPPeHnHJQwCgYI
KoZIzj0EAwIDSAAwRQIhAOG0/DJ7sa7WD7PkenOj43a4rAEf99fzoPO5citvRwL9
AiB3np5sJS5Lm75cixvdvcFJWuhxrLgvhNIhksWztvqKWA==
-----END CERTIFICATE-----
`;

const mxKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg0QwdnA7TefXJ5+iy
a1p1owY0b4UE1JTXjao9IKdE5dChRANCAAQRaqw/yIJiYLuzwyAWSvKpEtltaeDm
p+O4kM5gi0pK63fFRSUU+WhT3R9Y1maklpwxCHsdL8lZoz65/PkiIS7M
-----END PRIVATE KEY-----
`;

export const mxCert = `-----BEGIN CERTIFICATE-----
MIIBvDCCAWGgAwIBAgICEAEwCgYIKoZIzj0EAwIwHTEbMBkGA1UEAwwSc3ZjIHRl
c3QgYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMTkxMjMxMDAwMDAwWjAT
MREwDwYDVQQDDAhteDEudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBFq
rD/IgmJgu7PDIBZK8qkS2W1p4Oan47iQzmCLSkrrd8VFJRT5aFPdH1jWZqSWnDEI
ex0vyVmjPrn8+SIhLsyjgZgwgZUwCQYDVR0TBAIwADAzBgNVHREELDAqgghteDEu
dGVzdIIIbXgyLnRlc3SCFG10YS1zdHMuZXhhbXBsZS50ZXN0MBMGA1UdJQQMMAoG
CCsGAQUFBwMBMB0GA1UdDgQWBBQTYebQfhwpREBguDRX2l/xvoqEnTAfBgNVHSME
GDAWgBQSBxNIkcGLy66E3weF4g894ecclDAKBggqhkjOPQQDAgNJADBGAiEA8FFy
TmcjESHk19ylcWmjoBDsOsRRHTlpkXWmxsN/aMcCIQCF6rptT3sQfWYRs6Tnq7cb
TtQyudrcC7nPHlmjy9QWkQ==
-----END CERTIFICATE-----
`;

/** Like `mxCert`, but signed by another authority of the same name. */
const forgedCert = `-----BEGIN CERTIFICATE-----
MIIBeTCCAR+gAwIBAgICEAQwCgYIKoZIzj0EAwIwHTEbMBkGA1UEAwwSc3ZjIHRl
c3QgYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMTkxMjMxMDAwMDAwWjAT
MREwDwYDVQQDDAhteDEudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBFq
rD/IgmJgu7PDIBZK8qkS2W1p4Oan47iQzmCLSkrrd8VFJRT5aFPdH1jWZqSWnDEI
ex0vyVmjPrn8+SIhLsyjVzBVMAkGA1UdEwQCMAAwMwYDVR0RBCwwKoIIbXgxLnRl
c3SCCG14Mi50ZXN0ghRtdGEtc3RzLmV4YW1wbGUudGVzdDATBgNVHSUEDDAKBggr
BgEFBQcDATAKBggqhkjOPQQDAgNIADBFAiEA5rAeJ1nN2F73R3oSkQGjSrFml8r9
oRnxo7cAe/uTq44CIGLZnKdPr6ie26edpgcBDHsUWrrM+ckhy7WsL25b3v5f
-----END CERTIFICATE-----
`;

/** A certificate for mx1.test signed with the key of `mxCert`, which is not an authority. */
const lentCert = `-----BEGIN CERTIFICATE-----
MIIBbzCCARWgAwIBAgICEBAwCgYIKoZIzj0EAwIwEzERMA8GA1UEAwwIbXgxLnRl
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjExOTEyMzEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxlbnQudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBFqrD/IgmJgu7PD
IBZK8qkS2W1p4Oan47iQzmCLSkrrd8VFJRT5aFPdH1jWZqSWnDEIex0vyVmjPrn8
+SIhLsyjVjBUMAkGA1UdEwQCMAAwEwYDVR0RBAwwCoIIbXgxLnRlc3QwEwYDVR0l
BAwwCgYIKwYBBQUHAwEwHQYDVR0OBBYEFBNh5tB+HClEQGC4NFfaX/G+ioSdMAoG
CCqGSM49BAMCA0gAMEUCIEveW7aOnSxohoNwN5ILhgV4CteeAe53MwlJPRyT7+oA
AiEA3iwF53+J7ut2h20aeHLUY2CL0jCzoo1nsCB6kU6PYIs=
-----END CERTIFICATE-----
`;

/** The chain of an impostor, with an authority that did not sign. */
export const forgedTls = { key: mxKey, cert: forgedCert + authorityCert };

/** The chain of an attacker that signs with a leaf certificate of the authority. */
export const lentTls = { key: mxKey, cert: lentCert + mxCert + authorityCert };

/**
 * Options for a server's `tls`: the chain with the authority, as DANE wants it (RFC 7672 3.1.2).
 */
export const mxTls = { key: mxKey, cert: mxCert + authorityCert };

/** Makes this process trust the authority, like an operator's NODE_EXTRA_CA_CERTS. */
export function trustTestAuthority(): void {
  setDefaultCACertificates([...getCACertificates('default'), authorityCert]);
}
