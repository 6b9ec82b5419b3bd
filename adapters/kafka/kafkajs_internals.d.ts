declare module "kafkajs/src/consumer/consumerGroup.js" {
  const ConsumerGroup: { new (options: object): object; readonly prototype: object };
  export default ConsumerGroup;
}

declare module "kafkajs/src/network/requestQueue/index.js" {
  const RequestQueue: { new (options: object): object; readonly prototype: object };
  export default RequestQueue;
}
