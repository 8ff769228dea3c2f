// A self-signed certificate for sink.test, *.sink.test, localhost and 127.0.0.1, valid 2020 to
// 2119, and its P-256 key. Made once with openssl: Node cannot create certificates. Public, for
// tests only.

export const testKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgZ6UbemFKc8G//rUq
PXUJOC44daGzmpmRUO2/045ZAHOhRANCAARQqS5KyE5oQ7no+VO8bmmPUhhEQqvB
9c72ZOeR1DMEcd6ONMxQuLd2ewNRSjVmfk0EkavBm0C9zCHUr2Vvj18G
-----END PRIVATE KEY-----
`;

export const testCert = `-----BEGIN CERTIFICATE-----
MIIBkTCCATigAwIBAgIUA3X0RMI+BHIwroju1tjizvXg6BQwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJc2luay50ZXN0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
MDAwMDAwWjAUMRIwEAYDVQQDDAlzaW5rLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARQqS5KyE5oQ7no+VO8bmmPUhhEQqvB9c72ZOeR1DMEcd6ONMxQuLd2
ewNRSjVmfk0EkavBm0C9zCHUr2Vvj18Go2YwZDAyBgNVHREEKzApgglzaW5rLnRl
c3SCCyouc2luay50ZXN0gglsb2NhbGhvc3SHBH8AAAEwDwYDVR0TAQH/BAUwAwEB
/zAdBgNVHQ4EFgQU7yITtELVTL9OlTMGzHA8FqcgOxAwCgYIKoZIzj0EAwIDRwAw
RAIgCN2wzbZicE8O2UBW9gQtnBSYMpYVnZ31/LX1rfAwr28CIFRKT2qJqh/weqnS
qSb1jN+D1BrkS2OG2M+vm0kLjj2R
-----END CERTIFICATE-----
`;
