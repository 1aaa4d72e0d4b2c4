
variable "type" { default = "g6.2xlarge" }
locals { cluster = "ml" }
resource "aws_launch_template" "spot" {
  name_prefix   = "spot-"
  instance_type = var.type
  image_id      = data.aws_ssm_parameter.gpu.value
  instance_market_options { market_type = "spot" }
  metadata_options { http_tokens = "required" }
  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size = 200
      volume_type = "gp3"
      encrypted   = true
    }
  }
  user_data = base64encode(<<-EOT
    #!/bin/bash
    cat <<'EOF' >> /etc/ecs/ecs.config
    ECS_CLUSTER=${local.cluster}
    ECS_ENABLE_SPOT_INSTANCE_DRAINING=true
    ECS_CONTAINER_STOP_TIMEOUT=100s
    EOF
  EOT
  )
}
data "aws_ssm_parameter" "gpu" { name = "/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id" }
