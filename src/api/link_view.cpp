#include "api/link_view.h"

namespace sluice::links {

static void describe(json::Object<PageFacts>& object) {
  object.required("title", &PageFacts::title);
  object.required("description", &PageFacts::description);
  object.required("siteName", &PageFacts::site_name);
  object.required("imageUrl", &PageFacts::image_url);
  object.required("iconUrl", &PageFacts::icon_url);
}

static void describe(json::Object<OwnedLink>& object) {
  object.required("id", &OwnedLink::id);
  object.required("folder", &OwnedLink::folder);
  object.required("title", &OwnedLink::title);
  object.required("url", &OwnedLink::url).format("uri");
  object.required("page", [](const OwnedLink& link) { return link.fetched_at ? &link.facts : nullptr; });
  object.required("fetchedAt", &OwnedLink::fetched_at);
  object.required("failure", &OwnedLink::failure);
}

void describe(json::Object<LinkPage>& object) {
  object.required("links", &LinkPage::links);
  object.optional("next", &LinkPage::next).omit_null();
}

}  // namespace sluice::links
