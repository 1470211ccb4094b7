#include "runtime/waiting_caller.h"

#include <algorithm>

#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include "runtime/errors.h"

namespace sluice {
namespace {

// Resumes the callers of one executor; run there.
struct Resumption {
  Executor executor;
  std::vector<std::move_only_function<void()>> resumes;
  size_t next = 0;

  void operator()() {
    try {
      while (next < resumes.size()) resumes[next++]();
    } catch (...) {
      const Executor same = executor;
      asio::post(same, std::move(*this));
      throw;
    }
  }
};

// The message without the engine's name before it.
std::string problem_of(const EngineUnavailable& error) {
  return std::string(error.what()).substr(error.engine().size() + 2);
}

}  // namespace

void throw_copy(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Overloaded& shared) {
    throw Overloaded(shared.engine(), shared.retry_after());
  } catch (const DeadlineExceeded& shared) {
    throw DeadlineExceeded(shared.engine());
  } catch (const EngineUnavailable& shared) {
    using Retryable = EngineUnavailable::Retryable;
    throw EngineUnavailable(shared.engine(), problem_of(shared), shared.retryable() ? Retryable::yes : Retryable::no,
                            shared.retry_after());
  } catch (const EngineRefused& shared) {
    throw EngineRefused(std::string(shared.what()));
  } catch (const boost::system::system_error& shared) {
    throw boost::system::system_error(shared.code());
  }
}

void resume_all(std::vector<WaitingCaller> callers) {
  std::vector<Resumption> resumptions;
  for (WaitingCaller& caller : callers) {
    auto resumption = std::ranges::find(resumptions, caller.executor, &Resumption::executor);
    if (resumption == resumptions.end()) {
      resumption =
          resumptions.insert(resumptions.end(), Resumption{.executor = std::move(caller.executor), .resumes = {}});
      resumption->resumes.reserve(callers.size());
    }
    resumption->resumes.push_back(std::move(caller.resume));
  }
  for (Resumption& resumption : resumptions) {
    const Executor executor = resumption.executor;
    asio::post(executor, std::move(resumption));
  }
}

void resume(WaitingCaller caller) {
  asio::post(caller.executor, std::move(caller.resume));
}

}  // namespace sluice
