declare module "kafkajs/src/consumer/consumerGroup.js" {
  const ConsumerGroup: { readonly prototype: object };
  export default ConsumerGroup;
}

declare module "kafkajs/src/network/requestQueue/index.js" {
  const RequestQueue: { readonly prototype: object };
  export default RequestQueue;
}
