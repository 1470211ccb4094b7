// For headers of structs that are described: the description itself stands in a .cpp file.
#pragma once

namespace sluice::config {

template <class T>
class Section;
class Problems;

}  // namespace sluice::config
