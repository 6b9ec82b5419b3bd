/** What OpenAPI documents say of tokens: whether one is needed depends on the settings. */
export const BEARER_OR_NONE = [{}, { bearer: [] }];

/** How a client shows its token. */
export const SECURITY_SCHEMES = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "Needed where the server was given tokens or an issuer of them",
  },
};
