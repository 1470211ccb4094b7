#include "adapters/kafka/joining.h"

namespace sluice::kafka {
namespace {

// As Kafka's protocol numbers them.
constexpr int16_t join_group = 11;
constexpr int16_t sync_group = 14;

constexpr const char* interceptor_name = "joining";

}  // namespace

void Joining::follow(const Conf& conf) {
  throw_if(rd_kafka_conf_interceptor_add_on_new(conf.get(), interceptor_name, on_new, this));
}

rd_kafka_resp_err_t Joining::on_new(rd_kafka_t* instance, const rd_kafka_conf_t*, void* self, char*, size_t) {
  return rd_kafka_interceptor_add_on_request_sent(instance, interceptor_name, on_request_sent, self);
}

// A member that asks for its share in a generation has been told of it.
rd_kafka_resp_err_t Joining::on_request_sent(rd_kafka_t*, int, const char*, int32_t, int16_t request, int16_t, int32_t,
                                             size_t, void* self) {
  if (request == join_group) static_cast<Joining*>(self)->under_way_ = true;
  if (request == sync_group) static_cast<Joining*>(self)->under_way_ = false;
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace sluice::kafka
